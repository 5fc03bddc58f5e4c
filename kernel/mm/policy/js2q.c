/*
 * The full 2Q of Johnson and Shasha: a page must be read a second time before it counts as useful.
 *
 * Problem. LRU and CLOCK keep a page that has just been used, even if that was its only use: one
 * long scan pushes out everything. But a second use soon after the first says little, either. It
 * often belongs to the same piece of work (a correlated use).
 *
 * Idea. New pages pass through a short queue, A1in, in which uses do not count. The identity of a
 * page that is evicted from A1in, but not its contents, is recorded in A1out. A page that is read
 * again while A1out has its identity was needed twice, some time apart: it goes to Am, the main
 * list.
 *
 *	            fault          oldest is evicted       oldest is dropped
 *	new page ----------> A1in ---------------> A1out ------------------>
 *	                     Kin                   Kout (ghosts)
 *	                                             | fault
 *	                                             v
 *	                                            Am ---> oldest unused page is evicted, no ghost
 *
 *	a frame is needed            the victim comes from
 *	A1in is longer than Kin      A1in: first in, first out
 *	else                         Am; A1in if Am is empty
 *
 * The size is c, the current vm_frames(): the policy's pages and the free frames. Kin and Kout are
 * percentages of c; the paper advises 25 and 50.
 *
 * What accessed bits change. The paper's Am is an LRU list, in which each use moves its page to the
 * front at once. Here a use sets a bit, which the policy reads when the page has become the oldest
 * of Am. If the bit is set, the page goes to the front then: a second chance, as in CLOCK. Uses
 * that the core sees itself (touch) move the page at once. And the kernel asks for a victim before
 * it says which page is inserted: a ghost can drop out of A1out just then, where the paper would
 * have found it.
 *
 * A page that was read ahead is in A1in, and its ghost counts when the page is claimed. A page that
 * its process does not need (DONTNEED) becomes the oldest of its list.
 *
 * T. Johnson and D. Shasha, "2Q: A low overhead high performance buffer management replacement
 * algorithm", VLDB 1994, the "2Q, full version".
 */
#include "mm/ghost.h"
#include "mm/policy.h"

enum { A1IN, AM, NR_LISTS };

struct js2q_page {
	struct list_head node;
	u32 list;
};
POLICY_PAGE_FITS(struct js2q_page);

static u32 kin = 25, kout = 50;
static struct list_head lists[NR_LISTS]; /* oldest first */
static u32 nr[NR_LISTS];
static struct list_head a1out; /* ghosts, oldest first */
static struct ghosts ghosts;
static u64 nr_ghost_hits, nr_spared;

static const struct vm_param js2q_params[] = {
	{ "kin", &kin, 0, 100, "%",
	  "A1in gives up a page when it is longer than this share of memory" },
	{ "kout", &kout, 0, 100, "%", "maximum number of ghosts, as a share of memory" },
	{ 0 },
};

static struct js2q_page *js2q_data(struct page *page)
{
	return policy_page(page);
}

static u32 share(u32 percent)
{
	return (u64)vm_frames() * percent / 100;
}

/* Places for ghosts: kout allows max_pfn; one more is added before the oldest is dropped. */
static int js2q_init(void)
{
	for (int i = 0; i < NR_LISTS; i++) {
		INIT_LIST_HEAD(&lists[i]);
		nr[i] = 0;
	}
	INIT_LIST_HEAD(&a1out);
	nr_ghost_hits = nr_spared = 0;
	return ghosts_init(&ghosts, max_pfn + 1);
}

static void js2q_exit(void)
{
	ghosts_exit(&ghosts);
}

static void enlist(struct page *page, u32 list)
{
	js2q_data(page)->list = list;
	list_add_tail(&js2q_data(page)->node, &lists[list]);
	nr[list]++;
}

static void delist(struct page *page)
{
	list_del(&js2q_data(page)->node);
	nr[js2q_data(page)->list]--;
}

static void make_newest(struct page *page)
{
	list_move_tail(&js2q_data(page)->node, &lists[js2q_data(page)->list]);
}

static void js2q_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	bool wanted = how != VM_IN_PREFETCH && how != VM_IN_ADOPT;
	struct ghost *ghost = wanted ? ghost_find(&ghosts, from) : NULL;

	(void)mm;
	enlist(page, ghost ? AM : A1IN);
	if (ghost) {
		nr_ghost_hits++;
		ghost_drop(&ghosts, ghost);
	}
}

static void js2q_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct js2q_page *p = js2q_data(page);

	(void)mm;
	if (how == VM_TOUCH_DONTNEED) {
		page_referenced(page);
		list_move(&p->node, &lists[p->list]);
	} else if (p->list == AM) {
		make_newest(page);
	}
}

static void js2q_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

/* Returns the list that must give up a page, or NR_LISTS when all pages have been skipped. */
static u32 turn(const u32 *skipped)
{
	u32 list = nr[A1IN] > share(kin) ? A1IN : AM;

	if (skipped[list] < nr[list])
		return list;
	list = !list;
	return skipped[list] < nr[list] ? list : NR_LISTS;
}

static struct page *any_eligible(struct vm_scan *scan)
{
	struct js2q_page *p;

	for (int i = 0; i < NR_LISTS; i++)
		list_for_each_entry(p, &lists[i], node) {
			if (!vm_scan_more(scan))
				return NULL;
			if (vm_eligible(scan, policy_page_of(p)))
				return policy_page_of(p);
		}
	return NULL;
}

static struct page *oldest_unused(struct vm_scan *scan, u32 kept_back)
{
	u32 skipped[NR_LISTS] = { 0 }, list;

	while ((list = turn(skipped)) != NR_LISTS && scan->budget > kept_back &&
	       vm_scan_more(scan)) {
		struct js2q_page *p = list_first_entry(&lists[list], struct js2q_page, node);
		struct page *page = policy_page_of(p);

		if (!vm_eligible(scan, page))
			skipped[list]++;
		else if (list == AM && page_referenced(page))
			nr_spared++;
		else
			return page;
		make_newest(page);
	}
	return NULL;
}

/* At priority 0, reserves enough of the budget to offer every page, used or not. */
static struct page *js2q_select(struct vm_scan *scan)
{
	struct page *page = oldest_unused(scan, scan->priority ? 0 : nr[A1IN] + nr[AM]);

	if (!page && !scan->priority)
		page = any_eligible(scan);
	if (page)
		delist(page);
	return page;
}

static void js2q_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page, js2q_data(page)->list);
}

static void js2q_evicted(struct page *page, struct page_id to)
{
	struct ghost *ghost;

	if (js2q_data(page)->list == AM)
		return;
	ghost = ghost_add(&ghosts, to);
	if (ghost)
		list_add_tail(&ghost->node, &a1out);
	for (int i = 0; i < 2 && ghosts.nr > share(kout); i++) /* kout may have been reduced */
		ghost_drop(&ghosts, list_first_entry(&a1out, struct ghost, node));
}

static void js2q_forget(struct page_id id)
{
	struct ghost *ghost = ghost_find(&ghosts, id);

	if (ghost)
		ghost_drop(&ghosts, ghost);
}

static int js2q_check(void)
{
	for (int i = 0; i < NR_LISTS; i++)
		if (vm_list_length(&lists[i]) != (int)nr[i])
			return -1;
	return nr[A1IN] + nr[AM];
}

static void js2q_show(struct seq_file *m)
{
	show_u64(m, "a1in", nr[A1IN]);
	show_u64(m, "am", nr[AM]);
	show_u64(m, "a1out", ghosts.nr);
	show_u64(m, "a1in_share", share(kin));
	show_u64(m, "a1out_share", share(kout));
	show_u64(m, "ghost_hits", nr_ghost_hits);
	show_u64(m, "passed_used", nr_spared);
}

static const struct vm_policy js2q = {
	.name = "js2q",
	.summary = "2Q with ghosts, by Johnson and Shasha",
	.params = js2q_params,
	.init = js2q_init,
	.exit = js2q_exit,
	.insert = js2q_insert,
	.touch = js2q_touch,
	.remove = js2q_remove,
	.select = js2q_select,
	.putback = js2q_putback,
	.evicted = js2q_evicted,
	.forget = js2q_forget,
	.check = js2q_check,
	.show = js2q_show,
};
VM_POLICY(js2q);
