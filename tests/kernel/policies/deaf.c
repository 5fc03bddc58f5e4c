/* Keeps its pages on per-process lists, and has no moved hook: a page that changes its owner must first be removed. */
#include "base.h"

struct deaf_mm {
	struct list_head pages;
	u32 nr;
};
POLICY_MM_FITS(struct deaf_mm);

static struct deaf_mm nobodys = { LIST_HEAD_INIT(nobodys.pages), 0 };
static u64 nr_removed, nr_inserted;

static struct deaf_mm *set_of(struct page *page)
{
	return page_mm(page) ? policy_mm(page_mm(page)) : &nobodys;
}

static void deaf_mm_init(struct mm_struct *mm)
{
	struct deaf_mm *set = policy_mm(mm);

	INIT_LIST_HEAD(&set->pages);
}

static void deaf_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	(void)mm, (void)from;
	nr_inserted += how == VM_IN_ADOPT;
	list_add_tail(base_node(page), &set_of(page)->pages);
	set_of(page)->nr++;
}

static void delist(struct page *page)
{
	list_del(base_node(page));
	set_of(page)->nr--;
}

static void deaf_remove(struct page *page, enum vm_out why)
{
	nr_removed += why == VM_OUT_MOVED;
	delist(page);
}

static struct page *first_of(struct deaf_mm *set, struct vm_scan *scan)
{
	struct list_head *node;

	for (node = set->pages.next; node != &set->pages && vm_scan_more(scan); node = node->next)
		if (vm_eligible(scan, policy_page_of(node)))
			return policy_page_of(node);
	return NULL;
}

static struct page *deaf_select(struct vm_scan *scan)
{
	struct page *page = first_of(&nobodys, scan);

	for (struct mm_struct *mm = vm_next_mm(NULL); mm && !page; mm = vm_next_mm(mm))
		page = first_of(policy_mm(mm), scan);
	if (page)
		delist(page);
	return page;
}

static void deaf_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(base_node(page), &set_of(page)->pages);
	set_of(page)->nr++;
}

static int deaf_check(void)
{
	int n = nobodys.nr;

	if (vm_list_length(&nobodys.pages) != n)
		return -1;
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm)) {
		struct deaf_mm *set = policy_mm(mm);

		if (vm_list_length(&set->pages) != (int)set->nr)
			return -1;
		n += set->nr;
	}
	return n;
}

static void deaf_show(struct seq_file *m)
{
	show_u64(m, "removed", nr_removed);
	show_u64(m, "inserted", nr_inserted);
}

static const struct vm_policy deaf = {
	.name = "deaf",
	.summary = "has lists of processes, and no moved",
	.mm_init = deaf_mm_init,
	.insert = deaf_insert,
	.remove = deaf_remove,
	.select = deaf_select,
	.putback = deaf_putback,
	.check = deaf_check,
	.show = deaf_show,
};
VM_POLICY(deaf);
