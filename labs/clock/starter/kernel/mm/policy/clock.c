/*
 * CLOCK, or second chance: FIFO that spares pages used since the hand last passed them.
 *
 * To build: the pages stand in a circle, and a hand moves over them. When a frame is needed, look
 * at the page under the hand. If it was used since the hand was here last (page_referenced says so,
 * and clears its accessed bit), it is spared and the hand moves on; otherwise it goes, and the hand
 * moves on, too. A new page is put behind the hand, so that the hand reaches it last. A page that
 * vm_eligible refuses is passed, its bit unread. (F. Corbato, "A paging experiment with the Multics
 * system", 1968.)
 *
 * Three things to think about. What stands for the hand? A pointer to a page is wrong as soon as
 * that page's process ends: remove may take any page. How long can one select take? Every look at
 * a page must be paid for with vm_scan_more. And which page goes when all have been used?
 *
 * As it stands, a page is taken from either end of the list in turn, used or not.
 */
#include "mm/policy.h"

struct clock_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct clock_page);

static LIST_HEAD(circle);
static bool at_tail; /* which end comes next */

static struct clock_page *clock_data(struct page *page)
{
	return policy_page(page);
}

/* The page is yours from now on. The access that brought it in does not count as a use. */
static void clock_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add_tail(&clock_data(page)->node, &circle);
}

/* It is yours no longer: its process has ended, for instance. */
static void clock_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(&clock_data(page)->node);
}

/* A frame is needed: which page shall go? NULL when vm_scan_more says that it is enough. */
static struct page *clock_select(struct vm_scan *scan)
{
	struct list_head *at;

	at_tail = !at_tail;
	for (at = at_tail ? circle.prev : circle.next; at != &circle && vm_scan_more(scan);
	     at = at_tail ? at->prev : at->next) {
		struct page *page = policy_page_of(list_entry(at, struct clock_page, node));

		if (vm_eligible(scan, page)) {
			list_del(at);
			return page;
		}
	}
	return NULL;
}

/* You chose it, but it stays: it was used while it was written, or no swap slot was free. */
static void clock_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(&clock_data(page)->node, &circle);
}

/* How many pages you hold; the kernel compares with its own count. */
static int clock_check(void)
{
	return vm_list_length(&circle);
}

/* Lines for /proc/vm/policy. How often was a page spared? That would be worth a line. */
static void clock_show(struct seq_file *m)
{
	show_u64(m, "circle", clock_check());
}

static const struct vm_policy clock = {
	.name = "clock",
	.summary = "second chance: spares pages used since the hand last passed",
	.insert = clock_insert,
	.remove = clock_remove,
	.select = clock_select,
	.putback = clock_putback,
	.check = clock_check,
	.show = clock_show,
};
VM_POLICY(clock);
