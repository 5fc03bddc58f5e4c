/*
 * The working set: Denning's policy (P. Denning, "The working set model for program behavior",
 * CACM 11(5), 1968), with the rule of admission that goes with it.
 *
 * The working set of a process is the set of pages it used in the last tau of its own virtual
 * time (time in user mode). A process runs only while its working set is in memory; if the
 * working sets of all that run do not fit, one of them must wait.
 *
 * Each process has a list of its pages with the virtual time of their last use. A tick scans the
 * accessed bits of every process that ran since the last one, so "used" has the tick's resolution;
 * used pages move to the list's tail, and the pages older than tau gather at its head: they
 * have left the working set. With strict release the core takes them at once (->surplus),
 * otherwise when a frame is needed.
 *
 * A process is active or waiting. An active one that sleeps, and not for a page, is idle: it claims
 * nothing until it runs again. The claim of any other is its working-set size, but for the first
 * tau after it was activated not less than what it claimed before: the pages must first come
 * back. The claims of the active processes are kept within memory:
 *
 *	overflow  no page has left any working set, but a frame is needed: an active process starts
 *	          waiting, and its pages go. First one that is idle, then the one activated last.
 *	admission a waiting process starts when its claim fits beside the others', when nobody else
 *	          is active, or when it claims next to nothing: a shell must answer.
 *	patience  who has waited for patience_ms goes next, and takes the place of the process that has
 *	          been active longest, once that has been active for patience_ms too. So nobody
 *	          starves, a process that waits for one that is held back (a pipe between them)
 *	          gets on, and each has the time to bring its pages in and to use them.
 *
 * A process alone that is larger than memory gives up its own oldest page: least recently used.
 */
#include "mm/policy.h"

#define SMALL 64 /* one part in so many of the frames is next to nothing */

struct ws_page {
	struct list_head node;
	u32 used_us; /* low bits of the virtual time of its last use */
};
POLICY_PAGE_FITS(struct ws_page);

struct ws_mm {
	struct list_head pages; /* least recently used first */
	u32 nr; /* length of pages */
	u32 size;               /* working-set size at the last tick, pages */
	u32 claim;
	u32 active_us;          /* virtual time at activation */
	u32 last_us;            /* virtual time at the last tick */
	bool idle; /* asleep at the last tick, and had not run since the one before */
	bool waiting;
	u64 since; /* machine time at which it became active, or started to wait */
};
POLICY_MM_FITS(struct ws_mm);

static u32 tau_ms = 200, patience_ms = 30000, strict = 1;
static LIST_HEAD(unclaimed); /* read ahead, nobody's yet: oldest first */
static u32 nr_unclaimed;
static u64 nr_suspended, nr_admitted;

static const struct vm_param ws_params[] = {
	{ "tau_ms", &tau_ms, 1, 60000, "ms", "window of the working set, process virtual time" },
	{ "patience_ms", &patience_ms, 100, 600000, "ms", "turn of the active while others wait" },
	{ "strict", &strict, 0, 1, NULL, "1: take pages as they leave; 0: when frames are needed" },
	{ 0 },
};

static struct ws_page *ws_data(struct page *page)
{
	return policy_page(page);
}

static struct ws_mm *ws_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

static u32 vtime_us(struct mm_struct *mm)
{
	return mm_vtime(mm) / 1000;
}

#define for_each_ws(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static bool outside(const struct ws_page *p, u32 now_us)
{
	return now_us - p->used_us > tau_ms * 1000;
}

static void enlist(struct page *page)
{
	struct mm_struct *mm = page_mm(page);

	if (!mm) {
		list_add_tail(&ws_data(page)->node, &unclaimed);
		nr_unclaimed++;
		return;
	}
	ws_data(page)->used_us = vtime_us(mm);
	list_add_tail(&ws_data(page)->node, &ws_mm(mm)->pages);
	ws_mm(mm)->nr++;
}

static void delist(struct page *page)
{
	struct mm_struct *mm = page_mm(page);

	list_del(&ws_data(page)->node);
	if (mm)
		ws_mm(mm)->nr--;
	else
		nr_unclaimed--;
}

static void ws_mm_init(struct mm_struct *mm)
{
	struct ws_mm *w = ws_mm(mm);

	INIT_LIST_HEAD(&w->pages);
	w->since = vm_now();
}

static void ws_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enlist(page);
}

static void ws_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_DONTNEED || !page_mm(page))
		return;
	delist(page);
	enlist(page);
}

static void ws_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static u32 active_claims(void)
{
	u32 sum = 0;

	for_each_ws(mm)
		if (!ws_mm(mm)->waiting && !ws_mm(mm)->idle)
			sum += ws_mm(mm)->claim;
	return sum;
}

/* It will need again what it has now, even if it was never measured. */
static void suspend(struct mm_struct *mm)
{
	struct ws_mm *w = ws_mm(mm);

	w->waiting = true;
	w->since = vm_now();
	w->claim = MAX(w->claim, w->nr);
	nr_suspended++;
}

static void activate(struct mm_struct *mm)
{
	ws_mm(mm)->waiting = false;
	ws_mm(mm)->idle = false;
	ws_mm(mm)->since = vm_now();
	ws_mm(mm)->active_us = vtime_us(mm);
	nr_admitted++;
}

/* Whom to stop: one that is idle anyway, then the one activated last; NULL: only one is left. */
static struct mm_struct *choose_victim(void)
{
	struct mm_struct *victim = NULL;
	u32 active = 0;

	for_each_ws(mm) {
		struct ws_mm *w = ws_mm(mm), *v = victim ? ws_mm(victim) : NULL;

		if (w->waiting || !w->nr)
			continue;
		active++;
		if (!v || w->idle > v->idle || (w->idle == v->idle && w->since >= v->since))
			victim = mm;
	}
	return active > 1 ? victim : NULL;
}

/* The first page of a list that the scan may take and, if it must be, has left the working set. */
static struct page *take(struct list_head *pages, struct vm_scan *scan, bool any, u32 now_us)
{
	struct ws_page *p;

	list_for_each_entry(p, pages, node) {
		if ((!any && !outside(p, now_us)) || !vm_scan_more(scan))
			return NULL;
		if (vm_eligible(scan, policy_page_of(p)))
			return policy_page_of(p);
	}
	return NULL;
}

static struct page *take_outside(struct vm_scan *scan)
{
	struct page *page;

	for_each_ws(mm) {
		if (scan->mm && scan->mm != mm)
			continue;
		page = take(&ws_mm(mm)->pages, scan, false, vtime_us(mm));
		if (page)
			return page;
	}
	return NULL;
}

static struct page *take_waiting(struct vm_scan *scan)
{
	struct page *page;

	for_each_ws(mm) {
		page = ws_mm(mm)->waiting ? take(&ws_mm(mm)->pages, scan, true, 0) : NULL;
		if (page)
			return page;
	}
	return NULL;
}

/* Nobody can be stopped: the least recently used page of the active one that has the most. */
static struct page *take_oldest(struct vm_scan *scan)
{
	struct mm_struct *largest = NULL;

	for_each_ws(mm)
		if (!ws_mm(mm)->waiting && (!largest || ws_mm(mm)->nr > ws_mm(largest)->nr))
			largest = mm;
	return largest ? take(&ws_mm(largest)->pages, scan, true, 0) : NULL;
}

static struct page *find_page(struct vm_scan *scan)
{
	struct page *page = NULL;
	struct mm_struct *victim;

	if (!scan->trim)
		page = take(&unclaimed, scan, true, 0) ?: take_waiting(scan);
	if (!page)
		page = take_outside(scan);
	while (!page && !scan->trim && scan->budget && (victim = choose_victim())) {
		suspend(victim);
		page = take(&ws_mm(victim)->pages, scan, true, 0);
	}
	return page || scan->trim ? page : take_oldest(scan);
}

static struct page *ws_select(struct vm_scan *scan)
{
	struct page *page = find_page(scan);

	if (page)
		delist(page);
	return page;
}

static void ws_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page);
}

/* Marks what was used and counts the working set. */
static void measure(struct mm_struct *mm)
{
	struct ws_mm *w = ws_mm(mm);
	u32 now_us = vtime_us(mm), left = w->nr, size = 0;
	struct list_head *next = w->pages.next;
	bool ran = now_us != w->last_us;

	w->idle = !ran && mm_sleeps(mm);
	w->last_us = now_us;
	if (!ran)
		return;
	for (; left; left--) {
		struct ws_page *p = list_entry(next, struct ws_page, node);

		next = next->next;
		if (page_referenced(policy_page_of(p))) {
			p->used_us = now_us;
			list_move_tail(&p->node, &w->pages);
		}
		size += !outside(p, now_us);
	}
	w->size = size;
	if (size > w->claim || now_us - w->active_us > tau_ms * 1000)
		w->claim = size;
}

static bool patience_over(struct mm_struct *mm)
{
	return vm_now() - ws_mm(mm)->since > patience_ms * 1000000ull;
}

/* The process that has waited, or been active, the longest; NULL: there is none. */
static struct mm_struct *longest(bool waiting)
{
	struct mm_struct *first = NULL;

	for_each_ws(mm) {
		if (ws_mm(mm)->waiting != waiting || (!waiting && ws_mm(mm)->idle))
			continue;
		if (!first || ws_mm(mm)->since < ws_mm(first)->since)
			first = mm;
	}
	return first;
}

/* Stops those who have been active for longer than patience, until claim fits; false: no room. */
static bool make_room(u32 claim)
{
	struct mm_struct *old;

	while (active_claims() + claim > vm_frames() && (old = longest(false))) {
		if (!patience_over(old))
			return false;
		suspend(old);
	}
	return true;
}

static bool ws_tick(void)
{
	struct mm_struct *late;

	for_each_ws(mm)
		measure(mm);
	late = longest(true);
	if (late && patience_over(late) && make_room(ws_mm(late)->claim))
		activate(late);
	return false;
}

static bool ws_may_run(struct mm_struct *mm)
{
	struct ws_mm *w = ws_mm(mm);
	u32 others;

	if (!w->waiting)
		return true;
	others = active_claims();
	if (w->claim > vm_frames() / SMALL && others && others + w->claim > vm_frames())
		return false;
	activate(mm);
	return true;
}

static u32 ws_surplus(struct mm_struct *mm)
{
	u32 now_us = vtime_us(mm), n = 0;
	struct ws_page *p;

	if (!strict)
		return 0;
	list_for_each_entry(p, &ws_mm(mm)->pages, node) {
		if (!outside(p, now_us))
			break;
		n++;
	}
	return n;
}

static int ws_check(void)
{
	int sum = nr_unclaimed;

	if (vm_list_length(&unclaimed) != (int)nr_unclaimed)
		return -1;
	for_each_ws(mm) {
		if (vm_list_length(&ws_mm(mm)->pages) != (int)ws_mm(mm)->nr)
			return -1;
		sum += ws_mm(mm)->nr;
	}
	return sum;
}

static void ws_show(struct seq_file *m)
{
	u32 active = 0, waiting = 0, sets = 0;

	for_each_ws(mm) {
		waiting += ws_mm(mm)->waiting;
		active += !ws_mm(mm)->waiting;
		sets += ws_mm(mm)->size;
	}
	show_u64(m, "working_sets", sets);
	show_u64(m, "claims", active_claims());
	show_u64(m, "frames", vm_frames());
	show_u64(m, "active", active);
	show_u64(m, "waiting", waiting);
	show_u64(m, "suspended", nr_suspended);
	show_u64(m, "admitted", nr_admitted);
}

static const struct vm_policy ws = {
	.name = "ws",
	.summary = "Denning's working set: who does not fit waits",
	.tick_ms = 50,
	.params = ws_params,
	.mm_init = ws_mm_init,
	.insert = ws_insert,
	.touch = ws_touch,
	.remove = ws_remove,
	.select = ws_select,
	.putback = ws_putback,
	.surplus = ws_surplus,
	.may_run = ws_may_run,
	.tick = ws_tick,
	.check = ws_check,
	.show = ws_show,
};
VM_POLICY(ws);
