/*
 * LIRS, low inter-reference recency set: pages are ranked by the distance between their last two
 * uses.
 *
 * LRU asks how long ago a page was used; a scan, or a loop longer than memory, fills memory with
 * pages that will not be needed soon. LIRS asks how many other pages were used between the last two
 * uses of a page. If these are few, the page is LIR; LIR pages have all frames but 1 %. The other
 * pages are HIR; they pass through those few frames.
 *
 * The stack S holds LIR pages, HIR pages and ghosts, the most recently used on top. Its bottom is
 * always an LIR page: entries below the lowest LIR page are cut off (pruning). So a HIR page or a
 * ghost that is used while it is in S was reused sooner than the lowest LIR page, and the two
 * change places. The queue Q holds the resident HIR pages; the page at its front is evicted.
 *
 *	used: in Q and in S	LIR, top of S			too many LIR pages: the lowest
 *	      in Q only		top of S, end of Q		becomes HIR, to the end of Q
 *	      its ghost in S	LIR, top of S
 *	      new		top of S, end of Q		evicted: a ghost, if it is in S
 *
 * S needs no list of all its entries. Each page and each ghost records the time when it was put on
 * top (a count), and it is in S if that time is later than the lowest LIR page's. So only LIR pages
 * are in a list, and pruning is a comparison, which costs nothing.
 *
 * The bits. LIRS sees each hit; a kernel sees a bit, and only when it looks. It looks at the front
 * of Q before a page is evicted, and at the bottom of S, once for each page that is inserted and,
 * when there are too many LIR pages, until it finds an unused one. A page found used counts as used
 * just now. This has three effects. S turns like a CLOCK, and its bottom is as old as the last look
 * at it, so S reaches too deep and pages become LIR more easily. An excess LIR page waits for the
 * next select. And in the few frames of Q, a burst of uses right after a page is inserted makes it
 * LIR: CLOCK-Pro is the authors' answer for kernels.
 *
 * Sizes: HIR has hir_percent of vm_frames(), read at each insert and select, and at least 2 frames,
 * as in the authors' program. There are at most as many ghosts as frames (the paper has no bound);
 * the oldest is dropped first. The table has room for as many as there are ever frames.
 *
 * Readahead of files. The paper does not know pages that are read ahead. They have not been used
 * yet, so they are neither LIR nor HIR: they wait on a list of their own. In Q, with its 1 %, one
 * readahead window would push out the next one unread, and pages that had just been read would
 * outlive both. They take their frames from LIR. Once they have more frames than HIR, and more than
 * two windows of a reader (or an eighth of the frames), the oldest are evicted. The few pages
 * around a page that is read from the swap area wait in Q. Both kinds leave no ghost, and have
 * their first use when they are claimed.
 *
 * So while a file is read, LIR has less than its share, and frames are free whenever kswapd has
 * run. If the pages of the file took those frames, a scan would replace all LIR pages. So once a
 * page has been evicted, a new page of a file becomes LIR at once only when a quarter of the frames
 * is free again.
 *
 * Not in the paper: a page that the scan may not take goes to the end of its list. If Q has only
 * such pages, the lowest LIR page becomes HIR. At priority 0, after a look at every page, any page
 * that the scan may take is evicted. DONTNEED puts a page at the front of Q.
 *
 * S. Jiang and X. Zhang, "LIRS: an efficient low inter-reference recency set replacement policy to
 * improve buffer cache performance", SIGMETRICS 2002.
 */
#include "lib/string.h"
#include "mm/ghost.h"
#include "mm/policy.h"

#define MIN_HIR 2u
#define MAX_AHEAD 64u /* two windows of a reader; more if HIR has more */

enum lirs_list { LIR, HIR, AHEAD, NR_LISTS };

struct lirs_page {
	struct list_head node;
	u32 time; /* when it was put on top of S */
	enum lirs_list list : 8;
	bool used;    /* set by a use that the core saw */
	bool claimed; /* a process has asked for it; false: only read ahead */
};
POLICY_PAGE_FITS(struct lirs_page);

static u32 hir_percent = 1;

static struct list_head lists[NR_LISTS]; /* LIR pages of S, bottom first; Q; read ahead */
static u32 nr[NR_LISTS], now;
static LIST_HEAD(ghost_queue); /* newest first */
static struct ghosts ghosts;
static bool was_short;           /* a page was evicted since frames were last free */
static u64 nr_lowered, nr_wasted; /* LIR pages that became HIR; read ahead and never used */

static struct lirs_page *lirs_data(struct page *page)
{
	return policy_page(page);
}

static u32 nr_all(void)
{
	return nr[LIR] + nr[HIR] + nr[AHEAD];
}

static u32 hir_share(u32 frames)
{
	return MAX(frames * (u64)hir_percent / 100, MIN_HIR);
}

/* Returns the target number of LIR pages. */
static u32 lir_share(u32 frames)
{
	u32 hir = hir_share(frames);

	return frames > hir ? frames - hir : 1;
}

static u32 ahead_share(u32 frames)
{
	return MAX(hir_share(frames), MIN(MAX_AHEAD, frames / 8));
}

/* Returns true if a page was evicted and a quarter of the frames has not been free since then. */
static bool is_short(u32 frames)
{
	if (nr_all() < frames - frames / 4)
		was_short = false;
	return was_short;
}

static struct lirs_page *bottom(void)
{
	return list_first_entry(&lists[LIR], struct lirs_page, node);
}

/* Is an entry that was put on top at this time still in S? Times may wrap around. */
static bool in_stack(u32 time)
{
	return !nr[LIR] || (s32)(time - bottom()->time) > 0;
}

static void enlist(struct lirs_page *p, enum lirs_list list)
{
	p->list = list;
	list_add_tail(&p->node, &lists[list]);
	nr[list]++;
}

static void delist(struct lirs_page *p)
{
	list_del(&p->node);
	nr[p->list]--;
}

static bool was_used(struct lirs_page *p)
{
	bool was = page_referenced(policy_page_of(p)) || p->used;

	p->used = false;
	return was;
}

static void to_end(struct lirs_page *p)
{
	if (p->list == LIR)
		p->time = ++now;
	list_move_tail(&p->node, &lists[p->list]);
}

/* Handles a page that was used while it was in Q. */
static void hit_hir(struct lirs_page *p)
{
	bool promoted = in_stack(p->time);

	delist(p);
	p->time = ++now;
	enlist(p, promoted ? LIR : HIR);
}

/* Puts the lowest LIR page on top if it was used. */
static bool turn_stack(void)
{
	struct lirs_page *p = bottom();

	if (!was_used(p))
		return false;
	to_end(p);
	return true;
}

/* Makes the lowest LIR page HIR. next: at the front of Q, because Q has nothing for this scan. */
static void lower_stack(bool next)
{
	struct lirs_page *p = bottom();

	delist(p);
	enlist(p, HIR);
	if (next)
		list_move(&p->node, &lists[HIR]);
	nr_lowered++;
}

static int lirs_init(void)
{
	for (int i = 0; i < NR_LISTS; i++) {
		INIT_LIST_HEAD(&lists[i]);
		nr[i] = 0;
	}
	INIT_LIST_HEAD(&ghost_queue);
	nr_lowered = nr_wasted = now = 0;
	was_short = false;
	return ghosts_init(&ghosts, max_pfn);
}

static void lirs_exit(void)
{
	ghosts_exit(&ghosts);
}

/* Drops the ghost. Returns true if there was one and it was in S. */
static bool take_ghost(struct page_id id)
{
	struct ghost *ghost = ghost_find(&ghosts, id);
	bool hit = ghost && in_stack(ghost->data);

	if (ghost)
		ghost_drop(&ghosts, ghost);
	return hit;
}

static void lirs_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	struct lirs_page *p = lirs_data(page);
	bool file = page_is_file(page), lir;
	u32 frames;

	(void)mm;
	p->claimed = how != VM_IN_PREFETCH;
	if (file && !p->claimed) {
		p->time = now;
		enlist(p, AHEAD);
		return;
	}
	frames = vm_frames();
	lir = nr[LIR] < lir_share(frames) && !(file && is_short(frames));
	if (!lir && nr[LIR])
		turn_stack();
	if (p->claimed)
		lir |= take_ghost(how == VM_IN_CLAIM ? page_id_of(page) : from);
	p->time = ++now;
	enlist(p, lir && p->claimed ? LIR : HIR);
}

static void lirs_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct lirs_page *p = lirs_data(page);

	(void)mm;
	p->used = how != VM_TOUCH_DONTNEED;
	if (p->used)
		return;
	page_referenced(page);
	delist(p);
	enlist(p, HIR);
	list_move(&p->node, &lists[HIR]);
}

static void lirs_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(lirs_data(page));
}

/* Returns the list to look at next. most: size limits; skipped: ineligible pages of each list. */
static enum lirs_list giver(const u32 *most, const u32 *skipped, bool any)
{
	if (nr[LIR] > most[LIR] && !any)
		return LIR;
	if (nr[AHEAD] > most[AHEAD] && skipped[AHEAD] < nr[AHEAD])
		return AHEAD;
	if (skipped[HIR] < nr[HIR])
		return HIR;
	if (skipped[LIR] < nr[LIR])
		return LIR;
	return nr[AHEAD] ? AHEAD : HIR;
}

/* Returns the page to evict, still in its list. At priority 0 the last looks cover each page once. */
static struct lirs_page *victim(struct vm_scan *scan)
{
	u32 frames = vm_frames(), all = nr_all(), skipped[NR_LISTS] = { 0 };
	u32 most[] = { [LIR] = lir_share(frames), [AHEAD] = ahead_share(frames) };

	while (all) {
		bool any = !scan->priority && scan->budget <= all;
		enum lirs_list from;
		struct lirs_page *p;

		if (scan->budget == all)
			memset(skipped, 0, sizeof(skipped));
		from = giver(most, skipped, any);
		p = list_first_entry(&lists[from], struct lirs_page, node);
		if (!vm_scan_more(scan))
			return NULL;
		if (from == LIR && !any) {
			if (!turn_stack())
				lower_stack(nr[LIR] <= most[LIR]);
		} else if (!vm_eligible(scan, policy_page_of(p))) {
			skipped[from]++;
			to_end(p);
		} else if (!any && was_used(p)) {
			hit_hir(p);
		} else {
			return p;
		}
	}
	return NULL;
}

static struct page *lirs_select(struct vm_scan *scan)
{
	struct lirs_page *p = victim(scan);

	if (p)
		delist(p);
	return p ? policy_page_of(p) : NULL;
}

static void lirs_putback(struct page *page, enum vm_put why)
{
	struct lirs_page *p = lirs_data(page);

	p->used = why == VM_PUT_USED;
	enlist(p, p->list == AHEAD && !p->used ? AHEAD : HIR);
}

static void lirs_evicted(struct page *page, struct page_id to)
{
	u32 limit = MIN(MAX(vm_frames(), 1u), ghosts.capacity);
	struct lirs_page *p = lirs_data(page);
	struct ghost *ghost;

	was_short = true;
	nr_wasted += !p->claimed;
	if (!p->claimed || !in_stack(p->time))
		return;
	for (int i = 0; i < 2 && ghosts.nr >= limit; i++) /* two, if the limit has shrunk */
		ghost_drop(&ghosts, list_last_entry(&ghost_queue, struct ghost, node));
	ghost = ghost_add(&ghosts, to);
	ghost->data = p->time;
	list_add(&ghost->node, &ghost_queue);
}

static void lirs_forget(struct page_id id)
{
	take_ghost(id);
}

static int lirs_check(void)
{
	for (int i = 0; i < NR_LISTS; i++)
		if (vm_list_length(&lists[i]) != (int)nr[i])
			return -1;
	return nr_all();
}

static void lirs_show(struct seq_file *m)
{
	show_u64(m, "lir", nr[LIR]);
	show_u64(m, "hir", nr[HIR]);
	show_u64(m, "ahead", nr[AHEAD]);
	show_u64(m, "ghosts", ghosts.nr);
	show_u64(m, "lowered", nr_lowered);
	show_u64(m, "wasted", nr_wasted);
}

static const struct vm_param params[] = {
	{ "hir_percent", &hir_percent, 1, 50, "%", "share of the frames for HIR pages" },
	{ 0 },
};

static const struct vm_policy lirs = {
	.name = "lirs",
	.summary = "LIRS: by the time between the last two uses",
	.params = params,
	.init = lirs_init,
	.exit = lirs_exit,
	.insert = lirs_insert,
	.touch = lirs_touch,
	.remove = lirs_remove,
	.select = lirs_select,
	.putback = lirs_putback,
	.evicted = lirs_evicted,
	.forget = lirs_forget,
	.check = lirs_check,
	.show = lirs_show,
};
VM_POLICY(lirs);
