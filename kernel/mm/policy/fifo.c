/*
 * FIFO: evicts the page that was inserted first, however often it is used.
 *
 * One queue: a page enters at the tail and is evicted at the head. A page that the core puts back
 * (no swap slot, used during its writeback) joins the tail again. FIFO reads no accessed bits, and
 * more frames can mean more faults: L. Belady, R. Nelson and G. Shedler, "An anomaly in space-time
 * characteristics of certain programs running in a paging machine", CACM 12(6), 1969.
 */
#include "mm/policy.h"

struct fifo_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct fifo_page);

static LIST_HEAD(queue); /* oldest first */

static struct fifo_page *fifo_data(struct page *page)
{
	return policy_page(page);
}

/* The policy holds the page from now on; `from` is the place that it was read from, if any. */
static void fifo_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add_tail(&fifo_data(page)->node, &queue);
}

/* The policy no longer holds the page: for instance, its process has ended. */
static void fifo_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(&fifo_data(page)->node);
}

/* lab: select */
static struct page *fifo_select(struct vm_scan *scan)
{
	struct fifo_page *p;

	list_for_each_entry(p, &queue, node) {
		struct page *page = policy_page_of(p);

		if (!vm_scan_more(scan))
			break;
		if (vm_eligible(scan, page)) {
			list_del(&p->node);
			return page;
		}
	}
	return NULL;
}
/* lab: end */

/* The chosen page stays: it was used while it was written, or no swap slot was free. */
static void fifo_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(&fifo_data(page)->node, &queue);
}

/* Returns the number of pages that the policy holds; the core compares it with its own count. */
static int fifo_check(void)
{
	return vm_list_length(&queue);
}

/* Adds lines to /proc/vm/policy. */
static void fifo_show(struct seq_file *m)
{
	show_u64(m, "queue", fifo_check());
}

static const struct vm_policy fifo = {
	.name = "fifo",
	.summary = "first in, first out",
	.insert = fifo_insert,
	.remove = fifo_remove,
	.select = fifo_select,
	.putback = fifo_putback,
	.check = fifo_check,
	.show = fifo_show,
};
VM_POLICY(fifo);
