/*
 * WSClock: the working set, found by a clock's hand.
 *
 * Denning's working set says well which pages to keep: those that their process has used in the
 * last tau of its own time. But to find the others, all pages must be looked at again and again.
 * CLOCK looks at very few, but its hand turns fast when memory is short, and then it spares
 * nothing. WSClock has one circle for all processes, and each page the time of its last use, on
 * the clock of the process that it belongs to. The hand passes when a frame is needed:
 *
 *	used since the hand last came   note the time, clear the bit, go on
 *	used less than tau ago          in a working set: go on
 *	older, and clean                take it
 *	older, and dirty                write it where it is, and go on: the hand will be back
 *
 * So a page of a process that stands still does not grow old, and there is no other scan than the
 * hand's. The time of a use is that at which the hand sees the accessed bit. A use just after the
 * hand has passed is thus noted a whole turn too late: the slower the hand, the larger the sets.
 *
 * A whole turn without an old page says that memory holds nothing but working sets. The paper
 * then stops a process. That is left to guards here (mm/guard.h), and until one acts the hand takes
 * clean pages that were not used since it last came, and if there was none in a turn, dirty ones:
 * so it is CLOCK then. How many writes may be begun for one frame the paper leaves open. After
 * `batch` of them an old dirty page is evicted, so that all are written together.
 *
 * Pages that no process has asked for (read ahead), or that are only read and written, have the
 * machine's time.
 *
 * R. Carr and J. Hennessy, "WSCLOCK - a simple and effective algorithm for virtual memory
 * management", SOSP 1981.
 */
#include "mm/policy.h"

struct wsclock_page {
	struct list_head node;
	u32 used_us; /* low bits of the virtual time of its last use */
};
POLICY_PAGE_FITS(struct wsclock_page);

static u32 tau_ms = 200, batch = 32;
static LIST_HEAD(circle); /* the hand is before the first */
static u32 nr_pages;
static u32 nr_since_old;   /* pages that the hand has passed since it met an old one */
static u32 nr_since_clean; /* and since it met one that was clean, and not just used */
static u32 nr_writes;      /* begun since a page was last given to evict */
static u64 nr_used, nr_laundered, nr_old, nr_overcommit;

static const struct vm_param wsclock_params[] = {
	{ "tau_ms", &tau_ms, 1, 60000, "ms", "window of the working set, process virtual time" },
	{ "batch", &batch, 0, 100, NULL, "pages laundered for one that is evicted" },
	{ 0 },
};

static struct wsclock_page *wsclock_data(struct page *page)
{
	return policy_page(page);
}

static u32 clock_of(struct page *page)
{
	struct mm_struct *mm = page_mm(page);

	return (mm ? mm_vtime(mm) : vm_now()) / 1000;
}

static bool is_old(struct page *page)
{
	return clock_of(page) - wsclock_data(page)->used_us > tau_ms * 1000;
}

static void note_use(struct page *page)
{
	wsclock_data(page)->used_us = clock_of(page);
}

static void enlist(struct page *page)
{
	list_add_tail(&wsclock_data(page)->node, &circle);
	nr_pages++;
}

static void delist(struct page *page)
{
	list_del(&wsclock_data(page)->node);
	nr_pages--;
}

static int wsclock_init(void)
{
	INIT_LIST_HEAD(&circle);
	nr_pages = nr_since_old = nr_since_clean = nr_writes = 0;
	nr_used = nr_laundered = nr_old = nr_overcommit = 0;
	return 0;
}

static void wsclock_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			   struct page_id from)
{
	(void)mm, (void)how, (void)from;
	note_use(page);
	enlist(page);
}

/* What is not needed any more is old at once, and the next that the hand meets. */
static void wsclock_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	note_use(page);
	if (how != VM_TOUCH_DONTNEED)
		return;
	page_referenced(page);
	wsclock_data(page)->used_us -= tau_ms * 1000 + 1;
	list_move(&wsclock_data(page)->node, &circle);
}

static void wsclock_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static void pass(struct page *page)
{
	list_move_tail(&wsclock_data(page)->node, &circle);
	nr_since_old++;
	nr_since_clean++;
}

/* An old page is always worked on; to write it is enough, but at priority 0. */
static void choose_act(struct vm_scan *scan, bool dirty)
{
	nr_since_old = 0;
	nr_old++;
	if (dirty && scan->priority && nr_writes < batch)
		scan->act = VM_LAUNDER;
}

/* Shall this page, in a working set, go? Only after a whole turn without an old one; and if it
 * is dirty, without a clean one, too. */
static bool must_go(const struct vm_scan *scan, bool dirty)
{
	bool none_old = nr_since_old >= nr_pages, none_clean = nr_since_clean >= nr_pages;

	if (!dirty)
		nr_since_clean = 0;
	if (scan->priority && !(none_old && (!dirty || none_clean)))
		return false;
	nr_overcommit++;
	return true;
}

/* The hand stands before this page, which has not been used since it last came. */
static bool wanted(struct vm_scan *scan, struct page *page)
{
	bool dirty = page_dirty(page);

	if (!is_old(page))
		return must_go(scan, dirty);
	choose_act(scan, dirty);
	return true;
}

static struct page *give(struct vm_scan *scan, struct page *page)
{
	delist(page);
	if (scan->act == VM_LAUNDER) {
		nr_writes++;
		nr_laundered++;
	} else {
		nr_writes = 0;
	}
	return page;
}

static struct page *wsclock_select(struct vm_scan *scan)
{
	while (!list_empty(&circle) && vm_scan_more(scan)) {
		struct wsclock_page *p = list_first_entry(&circle, struct wsclock_page, node);
		struct page *page = policy_page_of(p);

		if (!vm_eligible(scan, page)) {
			pass(page);
		} else if (page_referenced(page)) {
			nr_used++;
			note_use(page);
			pass(page);
		} else if (wanted(scan, page)) {
			return give(scan, page);
		} else {
			pass(page);
		}
	}
	return NULL;
}

/* Its time stays: a page that was used while it was written has its accessed bit. */
static void wsclock_putback(struct page *page, enum vm_put why)
{
	if (why == VM_PUT_USED)
		note_use(page);
	enlist(page);
}

static int wsclock_check(void)
{
	int n = vm_list_length(&circle);

	return n == (int)nr_pages ? n : -1;
}

static void wsclock_show(struct seq_file *m)
{
	show_u64(m, "circle", nr_pages);
	show_u64(m, "passed_used", nr_used);
	show_u64(m, "old", nr_old);
	show_u64(m, "laundered", nr_laundered);
	show_u64(m, "taken_from_working_sets", nr_overcommit);
}

static const struct vm_policy wsclock = {
	.name = "wsclock",
	.summary = "working sets, found by a clock's hand",
	.params = wsclock_params,
	.init = wsclock_init,
	.insert = wsclock_insert,
	.touch = wsclock_touch,
	.remove = wsclock_remove,
	.select = wsclock_select,
	.putback = wsclock_putback,
	.check = wsclock_check,
	.show = wsclock_show,
};
VM_POLICY(wsclock);
