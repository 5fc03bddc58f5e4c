/* CLOCK with a ring that has no beginning, and a hand that points to a page. */
#include "mm/policy.h"

struct clock_pointer_page {
	struct clock_pointer_page *next, *prev;
};
POLICY_PAGE_FITS(struct clock_pointer_page);

static struct clock_pointer_page *hand;
static int nr;

static void put_behind(struct page *page)
{
	struct clock_pointer_page *p = policy_page(page);

	nr++;
	if (!hand) {
		hand = p->next = p->prev = p;
		return;
	}
	p->next = hand;
	p->prev = hand->prev;
	hand->prev->next = p;
	hand->prev = p;
}

static void take_out(struct clock_pointer_page *p)
{
	nr--;
	p->prev->next = p->next;
	p->next->prev = p->prev;
	if (hand == p)
		hand = p->next == p ? NULL : p->next;
}

static void clock_pointer_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
				 struct page_id from)
{
	(void)mm, (void)how, (void)from;
	put_behind(page);
}

static void clock_pointer_remove(struct page *page, enum vm_out why)
{
	(void)why;
	take_out(policy_page(page));
}

static struct page *clock_pointer_select(struct vm_scan *scan)
{
	for (; hand && vm_scan_more(scan); hand = hand->next) {
		struct page *page = policy_page_of(hand);

		if (vm_eligible(scan, page) && !page_referenced(page)) {
			take_out(hand);
			return page;
		}
	}
	return NULL;
}

static void clock_pointer_putback(struct page *page, enum vm_put why)
{
	(void)why;
	put_behind(page);
}

static int clock_pointer_check(void)
{
	return nr;
}

static const struct vm_policy clock_pointer = {
	.name = "clock_pointer",
	.summary = "second chance, a ring and a pointer",
	.insert = clock_pointer_insert,
	.remove = clock_pointer_remove,
	.select = clock_pointer_select,
	.putback = clock_pointer_putback,
	.check = clock_pointer_check,
};
VM_POLICY(clock_pointer);
