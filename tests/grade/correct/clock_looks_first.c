/* CLOCK that looks at a page before asking whether it may look at another. */
#include "mm/policy.h"

struct clock_looks_first_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct clock_looks_first_page);

static LIST_HEAD(circle);

static struct list_head *node_of(struct page *page)
{
	return &((struct clock_looks_first_page *)policy_page(page))->node;
}

static void clock_looks_first_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
				     struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add_tail(node_of(page), &circle);
}

static void clock_looks_first_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(node_of(page));
}

static struct page *clock_looks_first_select(struct vm_scan *scan)
{
	struct list_head *at = circle.next;
	struct page *page;

	if (list_empty(&circle))
		return NULL;
	do {
		page = policy_page_of(at);
		if (vm_eligible(scan, page) && !page_referenced(page)) {
			list_del(at);
			return page;
		}
		list_move_tail(at, &circle);
		at = circle.next;
	} while (vm_scan_more(scan));
	return NULL;
}

static void clock_looks_first_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(node_of(page), &circle);
}

static int clock_looks_first_check(void)
{
	return vm_list_length(&circle);
}

static const struct vm_policy clock_looks_first = {
	.name = "clock_looks_first",
	.summary = "second chance, looks first",
	.insert = clock_looks_first_insert,
	.remove = clock_looks_first_remove,
	.select = clock_looks_first_select,
	.putback = clock_looks_first_putback,
	.check = clock_looks_first_check,
};
VM_POLICY(clock_looks_first);
