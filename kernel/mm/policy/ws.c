/*
 * The working set: Denning's policy (P. Denning, "The working set model for program behavior", CACM
 * 11(5), 1968), with its rule for admitting processes. The working set of a process is the set of
 * pages that it used in the last tau of its own virtual time (time in user mode). A process runs
 * only while its working set is in memory; if the working sets of all processes do not fit, one
 * process must wait. A page is on one of the lists of ws_lists.h. Pages that have left the working set
 * are evicted at once with strict release (->surplus), otherwise when a frame is needed.
 *
 * A tick reads the accessed bits of processes that ran since the last tick. A page may have been
 * used at any time between the two, so the assumed times of use are spread evenly. A page leaves at
 * the tick nearest to tau after its use: on average, tau after it. A tick looks at no more than
 * LOOKS pages, those unused for longest: in a larger working set, a page may be kept longer.
 *
 * A process is active or waiting. An active process that sleeps for another reason than a page is
 * idle: it claims nothing until it runs again. The claim of any other process is its working-set
 * size, but in the first tau after its activation at least its previous claim: its pages must first
 * be read back. Until then it is loading. A process that must wait before it has run for tau claims
 * all that it has allocated. The claims of active processes are kept within memory:
 *
 *	overflow  a frame is needed, and no page has left any working set: an active process must
 *	          wait, and its pages are evicted. First one that sleeps, last one that claims
 *	          little, otherwise the one activated last. Those that have not run for tau must
 *	          wait, too, if what they have allocated does not fit: later they have more pages
 *	admission a waiting process becomes active when its claim fits beside the others', or these are
 *	          little; first the one with the most resident pages. One process loads at a time:
 *	          its pages are read ahead while frames are free, otherwise a waiting process gives up
 *	          as many at once
 *	patience  a process that has waited for patience_ms is next, and replaces processes that have
 *	          been active for as long: none starves, and the other end of a pipe makes progress
 *
 * A single process that is larger than memory gives up its own oldest page: least recently used.
 * With admit=0 no process waits, and the largest gives up pages: replacement alone.
 */
#include "mm/policy.h"

/* lab: state */
#include "ws_lists.h"

#define LITTLE 16 /* a claim of at most 1/16 of the frames is little */
#define MANY 8 /* more than 1/8 of the frames is many unowned pages */
#define WORTH 16 /* readahead is worth a seek if 1/16 of the frames is free */
#define LOOKS 2048u /* about 1 ms */
#define TICK_MS 57u /* at most */

struct ws_mm {
	struct ws_lists own;
	u32 size, claim; /* of the working set at the last tick, and the claim: pages */
	u32 active_at, ran_until; /* virtual time at activation, and at the last tick */
	bool idle; /* at the last tick: asleep, and did not run since the one before */
	bool waiting;
	u32 unread; /* pages of its claim for which no read was requested since its activation */
	u64 since; /* machine time at which it became active or began to wait */
};
POLICY_MM_FITS(struct ws_mm);

static u32 tau_ms = 200, patience_ms = 30000, strict = 1, admit = 1;
static u32 spread; /* where the next assumed use lies between two ticks */
static u32 room; /* pages that waiting processes give up at once, for the one that loads */
static u64 nr_suspended, nr_admitted;

static const struct vm_param ws_params[] = {
	{ "tau_ms", &tau_ms, 1, 60000, "ms", "window of the working set, process virtual time" },
	{ "patience_ms", &patience_ms, 100, 600000, "ms",
	  "turn of active processes while others wait" },
	{ "strict", &strict, 0, 1, NULL, "1: evict leaving pages; 0: when frames are needed" },
	{ "admit", &admit, 0, 1, NULL, "1: processes that do not fit wait; 0: replacement alone" },
	{ 0 },
};
/* lab: end */

static struct ws_mm *ws_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

/* lab: hooks */
#define for_each_ws(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static bool outside(const struct ws_page *p, u32 now)
{
	return now - p->used > tau_ms * PER_MS;
}

static void ws_mm_init(struct mm_struct *mm)
{
	INIT_LIST_HEAD(&ws_mm(mm)->own.set.pages);
	INIT_LIST_HEAD(&ws_mm(mm)->own.left.pages);
	ws_mm(mm)->since = vm_now();
}

static void ws_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	if (how == VM_IN_FAULT && from.store && !page_is_file(page))
		ws_mm(mm)->unread = ~0u; /* what was read ahead was evicted before it was used */
	enlist(page, SET);
}

static void ws_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how != VM_TOUCH_DONTNEED) {
		move(page, SET);
	} else if (ws_data(page)->where == SET) {
		page_referenced(page); /* uses before this no longer count */
		move(page, LEFT);
	}
}

static void ws_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static void ws_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page, SET);
}

/* Which process runs. */

static u32 claim_of(struct mm_struct *mm)
{
	return MAX(ws_mm(mm)->claim, ws_mm(mm)->own.set.nr);
}

/* The claim if it had to wait. Before a process has run for tau, its working set is not known. */
static u32 claim_if_waiting(struct mm_struct *mm)
{
	return MAX(claim_of(mm), vtime(mm) <= tau_ms * PER_MS ? mm_demand(mm) : 0);
}

static u32 active_claims(void)
{
	u32 sum = 0;

	for_each_ws(mm)
		if (!ws_mm(mm)->waiting && !ws_mm(mm)->idle)
			sum += claim_of(mm);
	return sum;
}

/* Makes a process wait. It claims at least its resident pages, measured as in use or not. */
static void suspend(struct mm_struct *mm)
{
	struct ws_mm *w = ws_mm(mm);

	w->waiting = true;
	w->since = vm_now();
	w->claim = claim_if_waiting(mm);
	nr_suspended++;
}

static void activate(struct mm_struct *mm)
{
	struct ws_mm *w = ws_mm(mm);

	w->waiting = w->idle = false;
	w->unread = ~0u;
	w->since = vm_now();
	w->active_at = vtime(mm);
	nr_admitted++;
}

/* Of two processes, the one with the higher rank is suspended. One that sleeps will not grow. */
static u32 rank(struct mm_struct *mm)
{
	bool sleeps = mm_sleeps(mm);
	u32 claim = sleeps ? claim_of(mm) : claim_if_waiting(mm);

	return claim > vm_frames() / LITTLE ? 1 + sleeps : 0;
}

/* Returns the process to suspend, of equal ranks the last activated; NULL: only one is active. */
static struct mm_struct *choose_victim(void)
{
	struct mm_struct *victim = NULL;
	u32 active = 0;

	for_each_ws(mm) {
		if (ws_mm(mm)->waiting || !(ws_mm(mm)->own.set.nr + ws_mm(mm)->own.left.nr))
			continue;
		active++;
		if (!victim || rank(mm) > rank(victim) ||
		    (rank(mm) == rank(victim) && ws_mm(mm)->since >= ws_mm(victim)->since))
			victim = mm;
	}
	return active > 1 && admit ? victim : NULL;
}

/* If not all fit: returns, of the processes that have not run for tau, that with the fewest pages. */
static struct mm_struct *choose_young(void)
{
	struct mm_struct *least = NULL;
	u32 claims = 0;

	for_each_ws(mm) {
		if (ws_mm(mm)->waiting || ws_mm(mm)->idle)
			continue;
		claims += claim_if_waiting(mm);
		if (vtime(mm) <= tau_ms * PER_MS && rank(mm) == 1 &&
		    (!least || ws_mm(mm)->own.set.nr <= ws_mm(least)->own.set.nr))
			least = mm;
	}
	return claims > vm_frames() ? least : NULL;
}

/* Returns the process that has not yet read back its claim since activation, or NULL. */
static struct mm_struct *who_loads(void)
{
	for_each_ws(mm) {
		struct ws_mm *w = ws_mm(mm);

		if (!w->waiting && !w->idle && w->unread && w->own.set.nr < w->claim &&
		    vtime(mm) - w->active_at <= tau_ms * PER_MS)
			return mm;
	}
	return NULL;
}

static bool fits(struct mm_struct *mm)
{
	u32 others = active_claims();

	return !admit || others <= vm_frames() / LITTLE || others + ws_mm(mm)->claim <= vm_frames();
}

/* Returns the next process to admit: wants to run, fits; most resident pages, then longest wait. */
static struct mm_struct *next_in(void)
{
	struct mm_struct *next = NULL;

	if (who_loads())
		return NULL;
	for_each_ws(mm) {
		struct ws_mm *w = ws_mm(mm), *n = next ? ws_mm(next) : NULL;

		if (!w->waiting || mm_sleeps(mm) || !fits(mm))
			continue;
		if (!n || w->own.set.nr > n->own.set.nr ||
		    (w->own.set.nr == n->own.set.nr && w->since < n->since))
			next = mm;
	}
	return next;
}

static bool ws_may_run(struct mm_struct *mm)
{
	struct ws_mm *w = ws_mm(mm);

	if (w->waiting && mm == next_in())
		activate(mm);
	return !w->waiting;
}

/* Which page to evict. */

/* Keeps a page that was used: as shared if its own process did not run, so that another used it. */
static void keep(struct page *page)
{
	struct mm_struct *mm = page_mm(page);
	struct ws_mm *w = mm ? ws_mm(mm) : NULL;
	bool others = w && (w->idle || w->waiting) && vtime(mm) == w->ran_until;

	move(page, others ? SHARED : SET);
}

/* Takes the first eligible page that was not used since the last look, or was, at priority 0. */
static struct page *take(struct ws_list *l, struct vm_scan *scan)
{
	struct ws_page *p, *next;
	u32 left = l->nr;

	list_for_each_entry_safe(p, next, &l->pages, node) {
		struct page *page = policy_page_of(p);

		if (!left-- || !vm_scan_more(scan))
			return NULL;
		if (vm_eligible(scan, page)) {
			if (!page_referenced(page) || (!scan->priority && !scan->trim)) {
				delist(page);
				return page;
			}
			keep(page);
		} else if (scan->trim) {
			return NULL; /* retried later: without swap space no page would be */
		}
	}
	return NULL;
}

static struct page *take_old_shared(struct vm_scan *scan)
{
	struct ws_page *first = list_first_entry(&shared.pages, struct ws_page, node);

	return shared.nr && outside(first, vm_now() >> 10) ? take(&shared, scan) : NULL;
}

/* Returns a page that left its working set or of a waiting process, or (any) of any process. */
static struct page *take_owned(struct vm_scan *scan, bool any)
{
	struct page *page = NULL;

	for_each_ws(mm) {
		page = page ?: take(&ws_mm(mm)->own.left, scan);
		if (!page && (any || ws_mm(mm)->waiting))
			page = take(&ws_mm(mm)->own.set, scan);
	}
	return page;
}

/* No process can be stopped: takes the oldest page of the active process that has the most. */
static struct page *take_oldest(struct vm_scan *scan)
{
	struct ws_list *most = &shared;

	for_each_ws(mm)
		if (!ws_mm(mm)->waiting && ws_mm(mm)->own.set.nr > most->nr)
			most = &ws_mm(mm)->own.set;
	return take(most, scan);
}

/* Takes a page that has left the working set, or one that makes room. */
static struct page *release(struct vm_scan *scan)
{
	struct ws_mm *w = ws_mm(scan->mm);
	struct page *page = take(&w->own.left, scan);

	if (!page && w->waiting && room && (page = take(&w->own.set, scan)))
		room--;
	return page;
}

/* At priority 0 some page must be evicted, whichever process owns it. */
static struct page *ws_select(struct vm_scan *scan)
{
	struct mm_struct *victim;
	struct page *page;

	if (scan->trim)
		return release(scan);
	if (!scan->priority)
		return take(&nobodys, scan) ?: take(&shared, scan) ?: take_owned(scan, true);
	page = take_owned(scan, false) ?: take_old_shared(scan);
	if (!page && (nobodys.nr > vm_frames() / MANY || choose_victim()))
		page = take(&nobodys, scan);
	while (!page && scan->budget && (victim = choose_victim())) {
		suspend(victim);
		while ((victim = choose_young()))
			suspend(victim);
		page = take_owned(scan, false);
	}
	return page ?: take_oldest(scan);
}

static void look(struct ws_list *l, u32 last, u32 now, u32 looks)
{
	u32 left = MIN(l->nr, looks);
	struct ws_page *p, *next;

	list_for_each_entry_safe(p, next, &l->pages, node) {
		if (!left--)
			return;
		if (page_referenced(policy_page_of(p))) {
			move(policy_page_of(p), SET);
			spread += 0x9e3779b9; /* multiples of the golden ratio are spread evenly */
			p->used = last + ((u64)(now - last) * spread >> 32);
		} else if (p->where == LEFT || outside(p, now + (now - last) / 2)) {
			move(policy_page_of(p), LEFT);
		}
	}
}

static void measure(struct mm_struct *mm, u32 looks)
{
	struct ws_mm *w = ws_mm(mm);
	u32 last = w->ran_until, now = vtime(mm);

	w->idle = now == last && mm_sleeps(mm);
	w->ran_until = now;
	if (now == last)
		return;
	look(&w->own.left, last, now, looks / 2);
	look(&w->own.set, last, now, looks);
	w->size = w->own.set.nr;
	if (w->size > w->claim || (!w->waiting && now - w->active_at > tau_ms * PER_MS))
		w->claim = w->size;
}

/* Returns the process that was waiting (or active) the longest, beyond patience_ms, or NULL. */
static struct mm_struct *longest(bool waiting)
{
	struct mm_struct *first = NULL;
	u64 most = patience_ms * 1000000ull;

	for_each_ws(mm) {
		struct ws_mm *w = ws_mm(mm);

		if (w->waiting == waiting && (waiting || !w->idle) && vm_now() - w->since > most) {
			first = mm;
			most = vm_now() - w->since;
		}
	}
	return first;
}

/* Reads the pages of the process that loads ahead while frames are free; otherwise makes room. */
static void load(void)
{
	struct mm_struct *mm = who_loads();
	struct ws_mm *w = mm ? ws_mm(mm) : NULL;
	u32 frames = vm_frames(), worth = frames / WORTH;

	room = 0;
	if (!w)
		return;
	w->unread = MIN(w->unread, w->claim - w->own.set.nr);
	if (nr_pages + worth >= frames) {
		room = w->unread + worth;
	} else {
		w->unread -= nr_pages + w->unread < frames ? MIN(w->unread, PREPAGE_MOST) : 0;
		vm_prepage(mm);
	}
}

static bool ws_tick(void)
{
	struct mm_struct *mm, *old;
	u32 nr = 1;

	for_each_ws(mm)
		nr += vtime(mm) != ws_mm(mm)->ran_until;
	for_each_ws(mm)
		measure(mm, 2 * LOOKS / nr); /* shared by the processes that ran */
	mm = longest(true);
	while (mm && !fits(mm) && (old = longest(false)))
		suspend(old);
	if (mm && fits(mm))
		activate(mm);
	while ((mm = next_in()))
		activate(mm);
	load();
	vm_tick_after(MIN(2 * tau_ms / 7, TICK_MS));
	return false;
}

static u32 ws_surplus(struct mm_struct *mm)
{
	const struct ws_mm *w = ws_mm(mm);

	return MAX(strict ? w->own.left.nr : 0, w->waiting ? MIN(w->own.set.nr, room) : 0);
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
	show_u64(m, "nobodys", nobodys.nr);
	show_u64(m, "shared", shared.nr);
}

static const struct vm_policy ws = {
	.name = "ws",
	.summary = "Denning's working set: processes that do not fit wait",
	.tick_ms = TICK_MS,
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
/* lab: end */
