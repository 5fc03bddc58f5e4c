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
 * How many writes may be begun for one frame the paper leaves open. After `batch` of them an old dirty
 * page is evicted, so that all are written together.
 *
 * Load control. A whole turn without an old page says that memory holds nothing but working sets, and
 * one more than fits. Then a process is stopped: one that sleeps anyway, otherwise the one that was
 * activated last, which has brought in least. All pages of a stopped process are old.
 *
 *	claim     the pages that a process had when it was stopped
 *	loading   a process that was activated and has not got its claim back; after tau of its own time it
 *		  runs. Only one process loads at a time: the paper's control of loading and running tasks
 *	activated the process that has waited longest, when none is loading and its claim fits beside the
 *		  pages of active processes, or none is active. A process that claims next to nothing
 *		  never waits: a shell must answer
 *	patience  a process that has waited for patience_ms takes the place of those that have been active
 *		  for longer: none starves, though the others never end
 *
 * When only one process is active there is none to stop. With control=0 none is stopped at all; other
 * guards (mm/guard.h) can do it. The hand then takes clean pages that were not used since it last came,
 * and if there was none in a turn, dirty ones: it is CLOCK then.
 *
 * Pages that no process has asked for (read ahead), or that are only read and written, have the
 * machine's time. When a page passes to another process, its age stays.
 *
 * R. Carr and J. Hennessy, "WSCLOCK - a simple and effective algorithm for virtual memory
 * management", SOSP 1981. The paper has no patience: its processes end.
 */
#include "mm/policy.h"

#define SMALL 64 /* one part in 64 of the frames is next to nothing */
#define SLACK 16 /* and one in 16 must be spare: what did not fit before would not fit again */

struct wsclock_page {
	struct list_head node;
	u32 used_us; /* low bits of the virtual time of its last use */
	struct mm_struct *owner; /* when it was given to the core */
};
POLICY_PAGE_FITS(struct wsclock_page);

struct wsclock_mm {
	bool stopped;
	u32 claim;   /* pages */
	u32 from_us; /* virtual time at activation */
	u64 since;   /* machine time at which it became active, or was stopped */
};
POLICY_MM_FITS(struct wsclock_mm);

static u32 tau_ms = 200, batch = 32, control = 1, patience_ms = 30000;
static LIST_HEAD(circle); /* the hand is before the first */
static u32 nr_pages;
static u32 nr_since_old;   /* pages that the hand has passed since it met an old one */
static u32 nr_since_clean; /* and since it met one that was clean, and not just used */
static u32 nr_writes;      /* begun since a page was last given to evict */
static u64 nr_used, nr_laundered, nr_old, nr_overcommit, nr_stopped;

static const struct vm_param wsclock_params[] = {
	{ "tau_ms", &tau_ms, 1, 60000, "ms", "window of the working set, process virtual time" },
	{ "batch", &batch, 0, 100, NULL, "pages laundered for one that is evicted" },
	{ "control", &control, 0, 1, NULL,
	  "1: processes that do not fit wait; 0: replacement alone" },
	{ "patience_ms", &patience_ms, 100, 600000, "ms", "longest wait while others are active" },
	{ 0 },
};

static struct wsclock_page *wsclock_data(struct page *page)
{
	return policy_page(page);
}

static struct wsclock_mm *wsclock_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

#define for_each_mm(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

/* The clock of a process; NULL: the machine's. */
static u32 clock_of(struct mm_struct *mm)
{
	return (mm ? mm_vtime(mm) : vm_now()) / 1000;
}

static bool is_stopped(struct mm_struct *mm)
{
	return mm && wsclock_mm(mm)->stopped;
}

static bool is_old(struct page *page)
{
	struct mm_struct *mm = page_mm(page);

	return is_stopped(mm) || clock_of(mm) - wsclock_data(page)->used_us > tau_ms * 1000;
}

static void note_use(struct page *page)
{
	wsclock_data(page)->used_us = clock_of(page_mm(page));
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
	nr_used = nr_laundered = nr_old = nr_overcommit = nr_stopped = 0;
	return 0;
}

static void wsclock_mm_init(struct mm_struct *mm)
{
	wsclock_mm(mm)->since = vm_now();
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

/* The page is as old on the new clock as it was on the old one. */
static void wsclock_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	wsclock_data(page)->used_us += clock_of(to) - clock_of(from);
}

/* Load control. */

static bool is_small(u32 pages)
{
	return pages <= vm_frames() / SMALL;
}

/* Has an active process not yet got back what it had? After tau it has what it needs. */
static bool is_loading(struct mm_struct *mm)
{
	struct wsclock_mm *w = wsclock_mm(mm);

	return !w->stopped && mm_rss(mm) < w->claim && clock_of(mm) - w->from_us <= tau_ms * 1000;
}

static void stop(struct mm_struct *mm)
{
	struct wsclock_mm *w = wsclock_mm(mm);

	w->claim = is_loading(mm) ? w->claim : mm_rss(mm);
	w->stopped = true;
	w->since = vm_now();
	nr_stopped++;
}

static void activate(struct mm_struct *mm)
{
	struct wsclock_mm *w = wsclock_mm(mm);

	w->stopped = false;
	w->from_us = clock_of(mm);
	w->since = vm_now();
}

/* Would the first rather be stopped than the second, which is older? */
static bool rather(struct mm_struct *mm, struct mm_struct *older)
{
	if (mm_sleeps(mm) != mm_sleeps(older))
		return mm_sleeps(mm);
	return wsclock_mm(mm)->since >= wsclock_mm(older)->since;
}

/* Stops an active process, unless only one has pages that are worth it. */
static bool stop_one(void)
{
	struct mm_struct *victim = NULL;
	u32 nr = 0;

	for_each_mm(mm) {
		if (is_stopped(mm) || is_small(mm_rss(mm)))
			continue;
		nr++;
		if (!victim || rather(mm, victim))
			victim = mm;
	}
	if (!control || nr < 2)
		return false;
	stop(victim);
	nr_since_old = 0;
	return true;
}

static bool fits(struct mm_struct *mm)
{
	u32 others = 0;

	for_each_mm(other)
		if (!is_stopped(other) && !mm_sleeps(other))
			others += mm_rss(other);
	return !control || !others ||
	       others + wsclock_mm(mm)->claim + vm_frames() / SLACK <= vm_frames();
}

static bool any_loads(void)
{
	for_each_mm(mm)
		if (is_loading(mm) && !mm_sleeps(mm))
			return true;
	return false;
}

/* The process that wants to run and has waited longest; NULL: none waits. */
static struct mm_struct *first_waiting(void)
{
	struct mm_struct *first = NULL;

	for_each_mm(mm)
		if (is_stopped(mm) && !mm_sleeps(mm) &&
		    (!first || wsclock_mm(mm)->since < wsclock_mm(first)->since))
			first = mm;
	return first;
}

static bool wsclock_may_run(struct mm_struct *mm)
{
	if (is_stopped(mm) && (is_small(wsclock_mm(mm)->claim) ||
			       (mm == first_waiting() && !any_loads() && fits(mm))))
		activate(mm);
	return !is_stopped(mm);
}

static bool is_over(struct mm_struct *mm)
{
	return vm_now() - wsclock_mm(mm)->since > patience_ms * 1000000ull;
}

/* Stops processes that have been active for longer than patience_ms, as many as it takes. */
static void make_room_for(struct mm_struct *mm)
{
	for_each_mm(old)
		if (!is_stopped(old) && !is_small(mm_rss(old)) && !fits(mm) && is_over(old))
			stop(old);
}

static bool wsclock_tick(void)
{
	struct mm_struct *mm = first_waiting();

	if (mm && is_over(mm)) {
		make_room_for(mm);
		if (fits(mm))
			activate(mm);
	}
	while ((mm = first_waiting()) && !any_loads() && fits(mm))
		activate(mm);
	return false;
}

/* The hand. */

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

	if (is_old(page)) {
		choose_act(scan, dirty);
		return true;
	}
	if (nr_since_old >= nr_pages && scan->priority && stop_one())
		return false;
	return must_go(scan, dirty);
}

static struct page *give(struct vm_scan *scan, struct page *page)
{
	delist(page);
	wsclock_data(page)->owner = page_mm(page);
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
		} else if (!is_stopped(page_mm(page)) && page_referenced(page)) {
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

/* Its time stays: a page that was used while it was written has its accessed bit. But a time on the
 * clock of a process that has given the page up meanwhile says nothing. */
static void wsclock_putback(struct page *page, enum vm_put why)
{
	if (why == VM_PUT_USED || page_mm(page) != wsclock_data(page)->owner)
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
	show_u64(m, "stopped", nr_stopped);
}

static const struct vm_policy wsclock = {
	.name = "wsclock",
	.summary = "working sets, found by a clock's hand, with load control",
	.params = wsclock_params,
	.init = wsclock_init,
	.mm_init = wsclock_mm_init,
	.insert = wsclock_insert,
	.touch = wsclock_touch,
	.remove = wsclock_remove,
	.moved = wsclock_moved,
	.select = wsclock_select,
	.putback = wsclock_putback,
	.may_run = wsclock_may_run,
	.tick = wsclock_tick,
	.check = wsclock_check,
	.show = wsclock_show,
};
VM_POLICY(wsclock);
