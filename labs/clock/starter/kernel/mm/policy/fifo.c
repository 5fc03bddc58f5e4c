/*
 * FIFO: evicts the page that was inserted first, however often it is used.
 *
 * To build: one queue. A page enters at its tail, when the kernel gives it to you (insert) and when
 * it comes back after you had chosen it (putback), and the first one that the scan may have leaves
 * at its head. No accessed bit is read: that is what CLOCK adds, and why more frames can mean more
 * faults here (L. Belady, R. Nelson and G. Shedler, CACM 12(6), 1969).
 *
 * As it stands, a page is taken from either end of the list in turn. That keeps every rule of
 * mm/policy.h, so the machine runs; it is no FIFO. Keep the rules, too: the kernel falls back on
 * `fifo` when another policy breaks one, and stops when fifo itself does.
 */
#include "mm/policy.h"

struct fifo_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct fifo_page);

static LIST_HEAD(queue);
static bool at_tail; /* which end comes next */

static struct fifo_page *fifo_data(struct page *page)
{
	return policy_page(page);
}

/* The page is yours from now on. mm faulted it in; `from` is where it was read, if it was. */
static void fifo_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add_tail(&fifo_data(page)->node, &queue);
}

/* It is yours no longer: its process has ended, for instance. */
static void fifo_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(&fifo_data(page)->node);
}

/*
 * A frame is needed: which page shall go? It leaves your list. NULL when none can be had, or when
 * vm_scan_more says that enough pages have been looked at. A page that vm_eligible refuses
 * stays where it is: it is locked, or not in a zone that would help.
 */
static struct page *fifo_select(struct vm_scan *scan)
{
	struct list_head *at;

	at_tail = !at_tail;
	for (at = at_tail ? queue.prev : queue.next; at != &queue && vm_scan_more(scan);
	     at = at_tail ? at->prev : at->next) {
		struct page *page = policy_page_of(list_entry(at, struct fifo_page, node));

		if (vm_eligible(scan, page)) {
			list_del(at);
			return page;
		}
	}
	return NULL;
}

/* You chose it, but it stays: it was used while it was written, or no swap slot was free. */
static void fifo_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(&fifo_data(page)->node, &queue);
}

/* How many pages you hold; the kernel compares with its own count. */
static int fifo_check(void)
{
	return vm_list_length(&queue);
}

/* Lines for /proc/vm/policy. */
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
