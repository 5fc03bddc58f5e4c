/*
 * CLOCK whose hand moves in the other direction: it stands at the end of the list, and new pages are inserted at the
 * front.
 */
#include "mm/policy.h"

struct clock_other_way_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct clock_other_way_page);

static LIST_HEAD(circle);

static struct list_head *node_of(struct page *page)
{
	return &((struct clock_other_way_page *)policy_page(page))->node;
}

static void clock_other_way_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
				   struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add(node_of(page), &circle);
}

static void clock_other_way_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(node_of(page));
}

static struct page *clock_other_way_select(struct vm_scan *scan)
{
	while (!list_empty(&circle)) {
		struct clock_other_way_page *p =
			list_last_entry(&circle, struct clock_other_way_page, node);
		struct page *page = policy_page_of(p);

		if (!vm_scan_more(scan))
			return NULL;
		if (vm_eligible(scan, page) && !page_referenced(page)) {
			list_del(&p->node);
			return page;
		}
		list_move(&p->node, &circle);
	}
	return NULL;
}

static void clock_other_way_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add(node_of(page), &circle);
}

static int clock_other_way_check(void)
{
	return vm_list_length(&circle);
}

static const struct vm_policy clock_other_way = {
	.name = "clock_other_way",
	.summary = "second chance, the other way round",
	.insert = clock_other_way_insert,
	.remove = clock_other_way_remove,
	.select = clock_other_way_select,
	.putback = clock_other_way_putback,
	.check = clock_other_way_check,
};
VM_POLICY(clock_other_way);
