/*
 * The full 2Q of T. Johnson and D. Shasha (VLDB 1994), for a grader that must also accept designs other
 * than Linux's. New pages queue in A1in, whether they are used there or not. A1out remembers the identity
 * of pages evicted from it. A page that returns while it is remembered goes to Am, where second chances
 * approximate LRU.
 */
#include "mm/policy.h"

#define MAX_GHOSTS 8192

struct js2q_page {
	struct list_head node;
	u32 in_am;
};
POLICY_PAGE_FITS(struct js2q_page);

static LIST_HEAD(a1in); /* oldest first */
static LIST_HEAD(am);   /* the hand is before the first */
static u32 nr_a1in, nr_am;
static struct page_id a1out[MAX_GHOSTS]; /* a ring; store 0: empty */
static u32 next_ghost;

static struct js2q_page *js2q_data(struct page *page)
{
	return policy_page(page);
}

static void enlist(struct page *page, bool in_am)
{
	js2q_data(page)->in_am = in_am;
	list_add_tail(&js2q_data(page)->node, in_am ? &am : &a1in);
	nr_am += in_am;
	nr_a1in += !in_am;
}

static void delist(struct page *page)
{
	list_del(&js2q_data(page)->node);
	nr_am -= js2q_data(page)->in_am;
	nr_a1in -= !js2q_data(page)->in_am;
}

/* Removes the page's ghost. Returns false if it has none. */
static bool take_ghost(struct page_id id)
{
	for (u32 i = 0; id.store && i < MAX_GHOSTS; i++)
		if (a1out[i].store && a1out[i].index == id.index) {
			a1out[i].store = 0;
			return true;
		}
	return false;
}

static void js2q_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	(void)mm;
	enlist(page, (how == VM_IN_FAULT || how == VM_IN_CLAIM) && take_ghost(from));
}

static void js2q_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static struct page *take(struct list_head *list, struct vm_scan *scan, u32 left, bool spare_used)
{
	while (left-- && vm_scan_more(scan)) {
		struct js2q_page *p = list_first_entry(list, struct js2q_page, node);
		struct page *page = policy_page_of(p);

		if (!vm_eligible(scan, page) || (spare_used && page_referenced(page))) {
			list_move_tail(&p->node, list);
			continue;
		}
		delist(page);
		return page;
	}
	return NULL;
}

/* A1in keeps a quarter of the frames. */
static struct page *js2q_select(struct vm_scan *scan)
{
	struct page *page = NULL;

	if (nr_a1in > vm_frames() / 4)
		page = take(&a1in, scan, nr_a1in, false);
	if (!page)
		page = take(&am, scan, 2 * nr_am, scan->priority > 0);
	return page ?: take(&a1in, scan, nr_a1in, false);
}

static void js2q_putback(struct page *page, enum vm_put why)
{
	enlist(page, why == VM_PUT_USED);
}

/* A1out remembers half as many pages as there are frames. */
static void js2q_evicted(struct page *page, struct page_id to)
{
	u32 size = MIN(vm_frames() / 2, (u32)MAX_GHOSTS);

	if (js2q_data(page)->in_am || !size)
		return;
	a1out[next_ghost % size] = to;
	next_ghost = (next_ghost + 1) % size;
}

static void js2q_forget(struct page_id id)
{
	take_ghost(id);
}

static int js2q_check(void)
{
	if (vm_list_length(&a1in) != (int)nr_a1in || vm_list_length(&am) != (int)nr_am)
		return -1;
	return nr_a1in + nr_am;
}

static const struct vm_policy js2q = {
	.name = "js2q",
	.summary = "2Q with ghosts, by Johnson and Shasha",
	.insert = js2q_insert,
	.remove = js2q_remove,
	.select = js2q_select,
	.putback = js2q_putback,
	.evicted = js2q_evicted,
	.forget = js2q_forget,
	.check = js2q_check,
};
VM_POLICY(js2q);
