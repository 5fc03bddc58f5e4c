/*
 * CLOCK as in textbooks: an array, and a hand that is an index. A new page is put where the hand is, and the hand
 * advances.
 */
#include "mm/policy.h"

#define SLOTS 16384u

static struct page *face[SLOTS];
static u32 nr, hand;

static void put(struct page *page)
{
	for (u32 at = nr++; at > hand; at--)
		face[at] = face[at - 1];
	face[hand++] = page;
}

static void cut(u32 slot)
{
	nr--;
	for (u32 at = slot; at < nr; at++)
		face[at] = face[at + 1];
	if (hand > slot)
		hand--;
}

static struct page *clock_array_select(struct vm_scan *scan)
{
	while (nr > 0) {
		struct page *page;

		if (!vm_scan_more(scan))
			break;
		hand = hand < nr ? hand : 0;
		page = face[hand];
		if (vm_eligible(scan, page) && !page_referenced(page)) {
			cut(hand);
			return page;
		}
		hand++;
	}
	return NULL;
}

static void clock_array_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			       struct page_id from)
{
	(void)mm, (void)how, (void)from;
	put(page);
}

static void clock_array_remove(struct page *page, enum vm_out why)
{
	(void)why;
	for (u32 at = 0; at < nr; at++)
		if (face[at] == page) {
			cut(at);
			return;
		}
}

static void clock_array_putback(struct page *page, enum vm_put why)
{
	(void)why;
	put(page);
}

static int clock_array_check(void)
{
	return nr;
}

static const struct vm_policy clock_array = {
	.name = "clock_array",
	.summary = "second chance: an array",
	.insert = clock_array_insert,
	.remove = clock_array_remove,
	.select = clock_array_select,
	.putback = clock_array_putback,
	.check = clock_array_check,
};
VM_POLICY(clock_array);
