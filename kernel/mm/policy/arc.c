/*
 * ARC: two LRU lists whose shares of memory follow the ghosts that are hit.
 *
 * Problem. Pages used once recently (a scan, a new phase) and pages used more often compete for
 * memory, and which kind deserves more changes as programs run. 2Q fixes the shares by parameters.
 *
 * Idea. T1 holds the pages used once, T2 those used at least twice. Each has ghosts of the pages
 * evicted from it, B1 and B2. A fault on a page with a ghost in B1 means that T1 was too small;
 * with a ghost in B2, that T2 was. So p, the target size of T1, grows or shrinks with each such
 * fault. The step is larger if the ghosts of that kind are rarer.
 *
 *	          <- older      newer ->                 c = vm_frames()
 *	  B1 (ghosts) | T1      new pages enter T1       T1 + T2 <= c
 *	  B2 (ghosts) | T2      everything else T2       T1 + B1 <= c,  all four <= 2 c
 *
 *	event                        what happens
 *	a frame is needed            |T1| > p: evict the oldest of T1, its ghost enters B1;
 *	                             else: evict the oldest of T2, its ghost enters B2
 *	page in T1 or T2 is used     becomes newest of T2
 *	fault, ghost in B1           p += max(1, |B2| / |B1|), at most c;  newest of T2
 *	fault, ghost in B2           p -= max(1, |B1| / |B2|), at least 0; newest of T2
 *	fault, no ghost              newest of T1; drop a ghost if there are too many
 *
 * The size c is the current vm_frames(): the policy's pages and the free frames. When it shrinks,
 * so do the lists of ghosts, by two with each new page.
 *
 * What accessed bits change. The paper moves a page at each hit. Here a hit sets a bit, which the
 * policy reads only when the page is the oldest of its list and about to be evicted. If the bit is
 * set, the page, in T1 or T2, becomes the newest of T2, and the policy looks at the next one. So T2
 * is in the order in which uses were seen, not made, and T1 holds pages which have been used again
 * but not yet been inspected. CAR (car.c) changes ARC in this way on purpose. A use that the core
 * itself sees (touch: minor faults, read, write) moves the page at once, as in the paper. Two more
 * things differ, because a frame is freed before the policy learns which page is inserted: p adapts
 * after the victim was chosen, and the paper's rule for a tie (|T1| = p and the page is in B2:
 * evict from T1) is left out. Quotients are rounded down.
 *
 * N. Megiddo, D. Modha, "ARC: A self-tuning, low overhead replacement cache", FAST 2003, fig. 4.
 */
#include "mm/ghost.h"
#include "mm/policy.h"

enum { T1, T2, NR_LISTS };

struct arc_page {
	struct list_head node;
	u32 list;
};
POLICY_PAGE_FITS(struct arc_page);

static struct list_head t[NR_LISTS]; /* pages, oldest first */
static struct list_head b[NR_LISTS]; /* ghosts of each list, oldest first; data: which list */
static u32 nr_t[NR_LISTS], nr_b[NR_LISTS];
static struct ghosts ghosts;
static u32 p; /* target size of T1, in pages */
static u64 nr_hits[NR_LISTS], nr_seen_used;

static struct arc_page *arc_data(struct page *page)
{
	return policy_page(page);
}

/*
 * As many ghosts as frames: pages are evicted when memory is full, and all four lists have 2 c
 * entries. One more, because a page is evicted before an entry is freed for the next one.
 */
static int arc_init(void)
{
	for (int i = 0; i < NR_LISTS; i++) {
		INIT_LIST_HEAD(&t[i]);
		INIT_LIST_HEAD(&b[i]);
		nr_t[i] = nr_b[i] = 0;
		nr_hits[i] = 0;
	}
	p = 0;
	nr_seen_used = 0;
	return ghosts_init(&ghosts, max_pfn + 1);
}

static void arc_exit(void)
{
	ghosts_exit(&ghosts);
}

static void enlist(struct page *page, u32 list)
{
	arc_data(page)->list = list;
	list_add_tail(&arc_data(page)->node, &t[list]);
	nr_t[list]++;
}

static void delist(struct page *page)
{
	list_del(&arc_data(page)->node);
	nr_t[arc_data(page)->list]--;
}

static void move(struct page *page, u32 list)
{
	delist(page);
	enlist(page, list);
}

static void drop(struct ghost *ghost)
{
	nr_b[ghost->data]--;
	ghost_drop(&ghosts, ghost);
}

static void drop_oldest(u32 list)
{
	drop(list_first_entry(&b[list], struct ghost, node));
}

/* Changes the target size after a fault on a page that was evicted from that list. */
static void adapt(u32 list)
{
	u32 step = MAX(nr_b[!list] / nr_b[list], 1u);

	nr_hits[list]++;
	if (list == T1)
		p = MIN(p + step, vm_frames());
	else
		p -= MIN(step, p);
}

/* Makes room for a page that is on no list and has no ghost. */
static void trim_ghosts(void)
{
	u32 c = vm_frames();

	for (int i = 0; i < 2; i++)
		if (nr_b[T1] && nr_t[T1] + nr_b[T1] >= c)
			drop_oldest(T1);
		else if (nr_b[T2] && nr_t[T1] + nr_t[T2] + nr_b[T1] + nr_b[T2] >= 2 * c)
			drop_oldest(T2);
}

static void arc_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	bool wanted = how != VM_IN_PREFETCH && how != VM_IN_ADOPT;
	struct ghost *ghost = wanted ? ghost_find(&ghosts, from) : NULL;

	(void)mm;
	if (ghost) {
		adapt(ghost->data);
		drop(ghost);
	} else {
		trim_ghosts();
	}
	enlist(page, ghost ? T2 : T1);
}

static void arc_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct arc_page *data = arc_data(page);

	(void)mm;
	if (how == VM_TOUCH_DONTNEED) {
		page_referenced(page);
		list_move(&data->node, &t[data->list]);
	} else {
		move(page, T2);
	}
}

static void arc_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

/* Returns the list that must give up a page, or NR_LISTS when all pages have been skipped. */
static u32 turn(const u32 *skipped)
{
	u32 list = nr_t[T1] > p ? T1 : T2;

	if (skipped[list] < nr_t[list])
		return list;
	list = !list;
	return skipped[list] < nr_t[list] ? list : NR_LISTS;
}

static struct page *any_eligible(struct vm_scan *scan)
{
	struct arc_page *data;

	for (int i = 0; i < NR_LISTS; i++)
		list_for_each_entry(data, &t[i], node) {
			if (!vm_scan_more(scan))
				return NULL;
			if (vm_eligible(scan, policy_page_of(data)))
				return policy_page_of(data);
		}
	return NULL;
}

static struct page *oldest_unused(struct vm_scan *scan, u32 kept_back)
{
	u32 skipped[NR_LISTS] = { 0 }, list;

	while ((list = turn(skipped)) != NR_LISTS && scan->budget > kept_back &&
	       vm_scan_more(scan)) {
		struct arc_page *data = list_first_entry(&t[list], struct arc_page, node);
		struct page *page = policy_page_of(data);

		if (!vm_eligible(scan, page)) {
			skipped[list]++;
			move(page, list);
		} else if (page_referenced(page)) {
			nr_seen_used++;
			move(page, T2);
		} else {
			return page;
		}
	}
	return NULL;
}

/* At priority 0, reserves enough of the budget to offer every page, used or not. */
static struct page *arc_select(struct vm_scan *scan)
{
	struct page *page = oldest_unused(scan, scan->priority ? 0 : nr_t[T1] + nr_t[T2]);

	if (!page && !scan->priority)
		page = any_eligible(scan);
	if (page)
		delist(page);
	return page;
}

static void arc_putback(struct page *page, enum vm_put why)
{
	enlist(page, why == VM_PUT_USED ? T2 : arc_data(page)->list);
}

static void arc_forget(struct page_id id)
{
	struct ghost *ghost = ghost_find(&ghosts, id);

	if (ghost)
		drop(ghost);
}

static void arc_evicted(struct page *page, struct page_id to)
{
	u32 list = arc_data(page)->list;
	struct ghost *ghost;

	arc_forget(to);
	if (ghosts.nr == ghosts.capacity)
		drop_oldest(nr_b[T1] > nr_b[T2] ? T1 : T2);
	ghost = ghost_add(&ghosts, to);
	ghost->data = list;
	list_add_tail(&ghost->node, &b[list]);
	nr_b[list]++;
}

static int arc_check(void)
{
	for (int i = 0; i < NR_LISTS; i++)
		if (vm_list_length(&t[i]) != (int)nr_t[i])
			return -1;
	return nr_t[T1] + nr_t[T2];
}

static void arc_show(struct seq_file *m)
{
	show_u64(m, "t1", nr_t[T1]);
	show_u64(m, "t2", nr_t[T2]);
	show_u64(m, "b1", nr_b[T1]);
	show_u64(m, "b2", nr_b[T2]);
	show_u64(m, "p", p);
	show_u64(m, "b1_hits", nr_hits[T1]);
	show_u64(m, "b2_hits", nr_hits[T2]);
	show_u64(m, "passed_used", nr_seen_used);
}

static const struct vm_policy arc = {
	.name = "arc",
	.summary = "adaptive: ghosts balance pages used once and pages used often",
	.init = arc_init,
	.exit = arc_exit,
	.insert = arc_insert,
	.touch = arc_touch,
	.remove = arc_remove,
	.select = arc_select,
	.putback = arc_putback,
	.evicted = arc_evicted,
	.forget = arc_forget,
	.check = arc_check,
	.show = arc_show,
};
VM_POLICY(arc);
