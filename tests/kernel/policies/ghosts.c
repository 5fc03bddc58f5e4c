/*
 * FIFO that remembers evicted pages in a pool of ghosts, and keeps a list per process: for gdb's
 * tm-lists, which must find such lists in a policy that it has never seen.
 */
#include "mm/policy.h"

#define NR_GHOSTS 64

struct ghosts_page {
	u32 visits;
	struct list_head node;
};
POLICY_PAGE_FITS(struct ghosts_page);

struct per_process {
	u32 nr;
	struct list_head mine; /* oldest first */
};
POLICY_MM_FITS(struct per_process);

struct ghost {
	u32 slot;
	struct list_head node;
};

static struct ghost pool[NR_GHOSTS];
LIST_HEAD(free_ghosts);
static struct {
	u32 nr;
	struct list_head gone; /* newest first */
} memory;
static LIST_HEAD(strays); /* read ahead */

static struct ghosts_page *data_of(struct page *page)
{
	return policy_page(page);
}

static struct per_process *process_of(struct mm_struct *mm)
{
	return policy_mm(mm);
}

static int ghosts_init(void)
{
	INIT_LIST_HEAD(&memory.gone);
	for (int i = 0; i < NR_GHOSTS; i++)
		list_add_tail(&pool[i].node, &free_ghosts);
	return 0;
}

static void ghosts_mm_init(struct mm_struct *mm)
{
	INIT_LIST_HEAD(&process_of(mm)->mine);
}

static void enlist(struct page *page)
{
	struct mm_struct *mm = page_mm(page);

	data_of(page)->visits++;
	list_add_tail(&data_of(page)->node, mm ? &process_of(mm)->mine : &strays);
	if (mm)
		process_of(mm)->nr++;
}

static void delist(struct page *page)
{
	struct mm_struct *mm = page_mm(page);

	list_del(&data_of(page)->node);
	if (mm)
		process_of(mm)->nr--;
}

static void ghosts_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			  struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enlist(page);
}

static void ghosts_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static struct page *first_of(struct list_head *list, struct vm_scan *scan)
{
	struct ghosts_page *p;

	list_for_each_entry(p, list, node) {
		if (!vm_scan_more(scan))
			return NULL;
		if (vm_eligible(scan, policy_page_of(p)))
			return policy_page_of(p);
	}
	return NULL;
}

static struct page *ghosts_select(struct vm_scan *scan)
{
	struct page *page = first_of(&strays, scan);

	for (struct mm_struct *mm = vm_next_mm(NULL); mm && !page; mm = vm_next_mm(mm))
		page = first_of(&process_of(mm)->mine, scan);
	if (page)
		delist(page);
	return page;
}

static void ghosts_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page);
}

static void ghosts_evicted(struct page *page, struct page_id to)
{
	struct ghost *g;

	(void)page;
	if (list_empty(&free_ghosts))
		g = list_last_entry(&memory.gone, struct ghost, node);
	else
		g = list_first_entry(&free_ghosts, struct ghost, node);
	memory.nr += !list_empty(&free_ghosts);
	g->slot = to.index;
	list_move(&g->node, &memory.gone);
}

static int ghosts_check(void)
{
	int n = vm_list_length(&strays);

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		n += vm_list_length(&process_of(mm)->mine);
	return n;
}

static const struct vm_policy ghosts = {
	.name = "ghosts",
	.summary = "first in, first out, and not forgotten",
	.init = ghosts_init,
	.mm_init = ghosts_mm_init,
	.insert = ghosts_insert,
	.remove = ghosts_remove,
	.select = ghosts_select,
	.putback = ghosts_putback,
	.evicted = ghosts_evicted,
	.check = ghosts_check,
};
VM_POLICY(ghosts);
