/*
 * WSClock: the working set, found by a clock's hand.
 *
 * Denning's working set states well which pages to keep: those that their process has used in the
 * last tau of its own time. But to find the others, all pages must be looked at again and again.
 * CLOCK looks at very few pages, but its hand turns fast when memory is short, and then it spares
 * none. WSClock has one circle for all processes, and records for each page the time of its last
 * use, on the clock of the process that owns the page. The hand passes when a frame is needed:
 *
 *	used since the hand last came   record the time, clear the bit, go on
 *	used less than tau ago          in a working set: go on
 *	older, and clean                evict it
 *	older, and dirty                write it in place, and go on: the hand will come back
 *
 * So the pages of a process that does not run do not age, and there is no scan other than the
 * hand's. The time of a use is the time at which the hand sees the accessed bit. A use just after
 * the hand has passed is thus recorded a whole turn too late: the slower the hand, the larger the
 * sets.
 *
 * The paper does not say how many writes to begin for one frame. After `batch` of them an old dirty
 * page is evicted, so that all are written together.
 *
 * Load control. A whole turn without an old page means that memory holds nothing but working sets,
 * and needs one more page than fits. Then a process is stopped: one that sleeps anyway, otherwise
 * the one that was activated last, which has brought in the fewest pages. All pages of a stopped
 * process are old.
 *
 *	claim     the number of pages that a process had when it was stopped
 *	loading   a process that was activated and has not read its claim back; after tau of its own time it
 *		  runs. Only one process loads at a time: the paper's control of loading and running tasks
 *	activated the process that has waited longest, when none is loading and its claim fits beside the
 *		  pages of active processes, or none is active. A process that claims very few pages
 *		  never waits: a shell must answer
 *	patience  a process that has waited for patience_ms replaces processes that have been active
 *		  for longer: none starves, even if the others never end
 *
 * When only one process is active, there is none to stop. With control=0 none is stopped at all;
 * other guards (mm/guard.h) can do it. The hand then evicts clean pages that were not used since
 * its last turn, and if it found none in a turn, dirty ones: this is CLOCK.
 *
 * Pages that no process has asked for (read ahead), or that are only read and written, use machine
 * time. When a page passes to another process, its age stays.
 *
 * R. Carr and J. Hennessy, "WSCLOCK - a simple and effective algorithm for virtual memory
 * management", SOSP 1981. The paper has no patience: its processes end.
 */
#include "mm/policy.h"

#define SMALL 64 /* a claim below 1/64 of the frames is very small */
#define SLACK 16 /* 1/16 must be spare: a claim that did not fit before would not fit again */

struct wsclock_page {
	struct list_head node;
	u32 used_us; /* low bits of the virtual time of its last use */
	struct mm_struct *owner; /* at the time when select returned it */
};
POLICY_PAGE_FITS(struct wsclock_page);

struct wsclock_mm {
	bool stopped;
	u32 claim;   /* pages it had when it was stopped */
	u32 from_us; /* virtual time at activation */
	u64 since;   /* machine time at which it was activated or stopped */
};
POLICY_MM_FITS(struct wsclock_mm);

static u32 tau_ms = 200, batch = 32, control = 1, patience_ms = 30000;
static LIST_HEAD(circle); /* the hand is before the first page */
static u32 nr_pages;
static u32 nr_since_old;   /* pages that the hand has passed since it met an old one */
static u32 nr_since_clean; /* pages passed since it met a clean one that was not just used */
static u32 nr_writes;      /* writes begun since the last eviction */
static u64 nr_used, nr_laundered, nr_old, nr_overcommit, nr_stopped;

static const struct vm_param wsclock_params[] = {
	{ "tau_ms", &tau_ms, 1, 60000, "ms", "window of the working set, process virtual time" },
	{ "batch", &batch, 0, 100, NULL, "pages laundered for each evicted page" },
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

/* Returns the time of a process's clock, or machine time if mm is NULL; us. */
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

/* A page that is no longer needed becomes old at once, and the next one under the hand. */
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

/* Has an active process not yet read its claim back? After tau it has the pages it needs. */
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

/* Returns true if mm is a better victim to stop than `older`, an older process. */
static bool rather(struct mm_struct *mm, struct mm_struct *older)
{
	if (mm_sleeps(mm) != mm_sleeps(older))
		return mm_sleeps(mm);
	return wsclock_mm(mm)->since >= wsclock_mm(older)->since;
}

/* Stops an active process. Returns false if fewer than two have enough pages to be worth it. */
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

/* Returns the process that wants to run and has waited longest, or NULL if none waits. */
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

/* Stops processes that have been active for longer than patience_ms, until mm fits. */
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

/* Chooses what to do with an old page. Writing it suffices, except at priority 0 or after a batch. */
static void choose_act(struct vm_scan *scan, bool dirty)
{
	nr_since_old = 0;
	nr_old++;
	if (dirty && scan->priority && nr_writes < batch)
		scan->act = VM_LAUNDER;
}

/* Must this page, in a working set, be evicted? Only if a whole turn found no old page; a dirty
 * page only if the turn found no clean one, either. */
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

/* Returns true to select the page at the hand, which was not used since the hand last passed it. */
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

/* The page keeps its time: if it was used during its writeback, its accessed bit is set. But its
 * time is invalid on the clock of a process that has given up the page since. */
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
