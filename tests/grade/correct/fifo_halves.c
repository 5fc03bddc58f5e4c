/*
 * FIFO as two lists: pages are evicted from the old one, newer ones wait in the young one until the old one is empty.
 */
#include "mm/policy.h"

struct fifo_halves_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct fifo_halves_page);

static LIST_HEAD(young);
static LIST_HEAD(old);

#define NODE(page) (&((struct fifo_halves_page *)policy_page(page))->node)

static void fifo_halves_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			       struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add(NODE(page), &young);
}

static void fifo_halves_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(NODE(page));
}

static void age(void)
{
	while (!list_empty(&young))
		list_move_tail(young.prev, &old);
}

static struct page *first_of(struct list_head *list, struct vm_scan *scan, bool backwards)
{
	struct list_head *at = backwards ? list->prev : list->next;

	for (; at != list && vm_scan_more(scan); at = backwards ? at->prev : at->next) {
		struct page *page = policy_page_of(list_entry(at, struct fifo_halves_page, node));

		if (vm_eligible(scan, page)) {
			list_del(at);
			return page;
		}
	}
	return NULL;
}

static struct page *fifo_halves_select(struct vm_scan *scan)
{
	struct page *page;

	if (list_empty(&old))
		age();
	page = first_of(&old, scan, false);
	return page ? page : first_of(&young, scan, true);
}

static void fifo_halves_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add(NODE(page), &young);
}

static int fifo_halves_check(void)
{
	int a = vm_list_length(&young), b = vm_list_length(&old);

	return a < 0 || b < 0 ? -1 : a + b;
}

static const struct vm_policy fifo_halves = {
	.name = "fifo_halves",
	.summary = "first in, first out: two lists",
	.insert = fifo_halves_insert,
	.remove = fifo_halves_remove,
	.select = fifo_halves_select,
	.putback = fifo_halves_putback,
	.check = fifo_halves_check,
};
VM_POLICY(fifo_halves);
