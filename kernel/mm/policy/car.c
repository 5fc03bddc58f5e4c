/*
 * CAR: ARC made for accessed bits, with two clocks.
 *
 * Problem. ARC (arc.c) moves a page at each use, so it must see each use, and no kernel can do that
 * for mapped pages. CLOCK needs only one bit per page.
 *
 * Idea. T1 and T2 of ARC become clocks. A use only sets the page's bit. A hand that finds the bit
 * of a page set clears it and puts the page behind the hand of T2: a page of T1 because it was used
 * a second time, a page of T2 as a second chance. Ghosts and p are as in ARC.
 *
 *	        hand                    new pages
 *	B1 <---- o  T1  o o o o o o o  <---------   bit clear: evicted, ghost in B1;  set: to T2
 *	        hand
 *	B2 <---- o  T2  o o o o o o o  <---------   bit clear: evicted, ghost in B2;  set: round again
 *	                                from T1, and pages that come back as ghosts
 *
 *	event                        what happens                               c = vm_frames()
 *	a frame is needed            |T1| >= max(1, p): hand of T1, else hand of T2, until a page
 *	                             is evicted
 *	page is used                 its bit is set
 *	fault, ghost in B1           p += max(1, |B2| / |B1|), at most c;  behind the hand of T2
 *	fault, ghost in B2           p -= max(1, |B1| / |B2|), at least 0; behind the hand of T2
 *	fault, no ghost              behind the hand of T1; first drops a ghost, of B1 if
 *	                             |T1| + |B1| = c, else of B2 if all four lists have 2 c
 *
 * The size c is the current vm_frames(): the policy's pages and the free frames. When it shrinks,
 * so do the lists of ghosts, by two with each new page.
 *
 * What accessed bits change: nothing, the paper is written for them. It even chooses the victim
 * before it looks for the ghost of the new page, as the kernel must. Here CAR and ARC differ in two
 * ways. CAR evicts from T1 already when |T1| = p. And a use that the core sees (minor fault, read,
 * write) sets a bit, as any other use does, while ARC moves the page at once. Left out: CART, the
 * paper's second algorithm, which does not count a second use soon after the first. Quotients are
 * rounded down.
 *
 * S. Bansal, D. Modha, "CAR: Clock with adaptive replacement", FAST 2004, fig. 2.
 */
#include "mm/ghost.h"
#include "mm/policy.h"

enum { T1, T2, NR_LISTS };

struct car_page {
	struct list_head node;
	u32 list;
	bool used; /* set by a use that the core saw; other uses are in the accessed bits */
};
POLICY_PAGE_FITS(struct car_page);

static struct list_head t[NR_LISTS]; /* clocks: the hand is before the first page */
static struct list_head b[NR_LISTS]; /* ghosts of each list, oldest first; data: which list */
static u32 nr_t[NR_LISTS], nr_b[NR_LISTS];
static struct ghosts ghosts;
static u32 p; /* target size of T1, in pages */
static u64 nr_hits[NR_LISTS], nr_seen_used;

static struct car_page *car_data(struct page *page)
{
	return policy_page(page);
}

/* As many ghosts as frames: pages are evicted when memory is full, and all four lists have 2 c
 * entries. One more, because a page is evicted before an entry is freed for the next one. */
static int car_init(void)
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

static void car_exit(void)
{
	ghosts_exit(&ghosts);
}

static void enlist(struct page *page, u32 list)
{
	car_data(page)->list = list;
	list_add_tail(&car_data(page)->node, &t[list]);
	nr_t[list]++;
}

static void delist(struct page *page)
{
	list_del(&car_data(page)->node);
	nr_t[car_data(page)->list]--;
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

static void car_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
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

static void car_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct car_page *data = car_data(page);

	(void)mm;
	if (how == VM_TOUCH_DONTNEED) {
		page_referenced(page);
		data->used = false;
		list_move(&data->node, &t[data->list]);
	} else {
		data->used = true;
	}
}

static void car_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

/* Returns the list that must give up a page, or NR_LISTS when all pages have been skipped. */
static u32 turn(const u32 *skipped)
{
	u32 list = nr_t[T1] >= MAX(p, 1u) ? T1 : T2;

	if (skipped[list] < nr_t[list])
		return list;
	list = !list;
	return skipped[list] < nr_t[list] ? list : NR_LISTS;
}

static struct page *any_eligible(struct vm_scan *scan)
{
	struct car_page *data;

	for (int i = 0; i < NR_LISTS; i++)
		list_for_each_entry(data, &t[i], node) {
			if (!vm_scan_more(scan))
				return NULL;
			if (vm_eligible(scan, policy_page_of(data)))
				return policy_page_of(data);
		}
	return NULL;
}

/* Was the page used since the hand last passed it? Clears the accessed bits and the core's bit. */
static bool was_used(struct page *page)
{
	bool seen = car_data(page)->used;

	car_data(page)->used = false;
	return page_referenced(page) || seen;
}

static struct page *next_unused(struct vm_scan *scan, u32 kept_back)
{
	u32 skipped[NR_LISTS] = { 0 }, list;

	while ((list = turn(skipped)) != NR_LISTS && scan->budget > kept_back &&
	       vm_scan_more(scan)) {
		struct car_page *data = list_first_entry(&t[list], struct car_page, node);
		struct page *page = policy_page_of(data);

		if (!vm_eligible(scan, page)) {
			skipped[list]++;
			move(page, list);
		} else if (was_used(page)) {
			nr_seen_used++;
			move(page, T2);
		} else {
			return page;
		}
	}
	return NULL;
}

/* At priority 0, reserves enough of the budget to offer every page, used or not. */
static struct page *car_select(struct vm_scan *scan)
{
	struct page *page = next_unused(scan, scan->priority ? 0 : nr_t[T1] + nr_t[T2]);

	if (!page && !scan->priority)
		page = any_eligible(scan);
	if (page)
		delist(page);
	return page;
}

static void car_putback(struct page *page, enum vm_put why)
{
	enlist(page, why == VM_PUT_USED ? T2 : car_data(page)->list);
}

static void car_forget(struct page_id id)
{
	struct ghost *ghost = ghost_find(&ghosts, id);

	if (ghost)
		drop(ghost);
}

static void car_evicted(struct page *page, struct page_id to)
{
	u32 list = car_data(page)->list;
	struct ghost *ghost;

	car_forget(to);
	if (ghosts.nr == ghosts.capacity)
		drop_oldest(nr_b[T1] > nr_b[T2] ? T1 : T2);
	ghost = ghost_add(&ghosts, to);
	ghost->data = list;
	list_add_tail(&ghost->node, &b[list]);
	nr_b[list]++;
}

static int car_check(void)
{
	for (int i = 0; i < NR_LISTS; i++)
		if (vm_list_length(&t[i]) != (int)nr_t[i])
			return -1;
	return nr_t[T1] + nr_t[T2];
}

static void car_show(struct seq_file *m)
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

static const struct vm_policy car = {
	.name = "car",
	.summary = "ARC with two clocks: made for accessed bits",
	.init = car_init,
	.exit = car_exit,
	.insert = car_insert,
	.touch = car_touch,
	.remove = car_remove,
	.select = car_select,
	.putback = car_putback,
	.evicted = car_evicted,
	.forget = car_forget,
	.check = car_check,
	.show = car_show,
};
VM_POLICY(car);
