/* FIFO whose oldest page is the last of the list. */
#include "mm/policy.h"

struct fifo_other_end_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct fifo_other_end_page);

static LIST_HEAD(queue);

static struct list_head *node_of(struct page *page)
{
	return &((struct fifo_other_end_page *)policy_page(page))->node;
}

static void fifo_other_end_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
				  struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add(node_of(page), &queue);
}

static void fifo_other_end_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(node_of(page));
}

static struct page *fifo_other_end_select(struct vm_scan *scan)
{
	for (struct list_head *at = queue.prev; at != &queue; at = at->prev) {
		struct page *page = policy_page_of(at);

		if (!vm_scan_more(scan))
			return NULL;
		if (!vm_eligible(scan, page))
			continue;
		list_del(at);
		return page;
	}
	return NULL;
}

static void fifo_other_end_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add(node_of(page), &queue);
}

static int fifo_other_end_check(void)
{
	return vm_list_length(&queue);
}

static const struct vm_policy fifo_other_end = {
	.name = "fifo_other_end",
	.summary = "first in, first out: the other end",
	.insert = fifo_other_end_insert,
	.remove = fifo_other_end_remove,
	.select = fifo_other_end_select,
	.putback = fifo_other_end_putback,
	.check = fifo_other_end_check,
};
VM_POLICY(fifo_other_end);
