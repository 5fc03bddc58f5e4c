/*
 * CLOCK, or second chance: FIFO that spares pages used since the hand last passed them.
 *
 * The pages form a circle, and a hand moves over them. If the accessed bit of the page at the hand
 * is set, the hand clears the bit and passes the page; the first page whose bit is clear is
 * evicted. A new page is put behind the hand, so the hand reaches it last. The circle is a list,
 * and the hand stands at the list's head: passing a page means moving it to the tail. If all pages
 * have been used, the hand comes round to bits it has cleared itself, so it stops after at most two
 * turns.
 *
 * F. Corbato, "A paging experiment with the Multics system", 1968.
 */
#include "mm/policy.h"

struct clock_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct clock_page);

static LIST_HEAD(circle);
static u64 nr_turned; /* pages passed because they were used */

static struct clock_page *clock_data(struct page *page)
{
	return policy_page(page);
}

static void clock_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add_tail(&clock_data(page)->node, &circle);
}

static void clock_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(&clock_data(page)->node);
}

/* lab: select */
static struct page *clock_select(struct vm_scan *scan)
{
	while (!list_empty(&circle) && vm_scan_more(scan)) {
		struct clock_page *p = list_first_entry(&circle, struct clock_page, node);
		struct page *page = policy_page_of(p);

		if (!vm_eligible(scan, page)) {
			list_move_tail(&p->node, &circle);
		} else if (page_referenced(page)) {
			nr_turned++;
			list_move_tail(&p->node, &circle);
		} else {
			list_del(&p->node);
			return page;
		}
	}
	return NULL;
}
/* lab: end */

static void clock_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(&clock_data(page)->node, &circle);
}

static int clock_check(void)
{
	return vm_list_length(&circle);
}

static void clock_show(struct seq_file *m)
{
	show_u64(m, "circle", clock_check());
	show_u64(m, "passed_used", nr_turned);
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
