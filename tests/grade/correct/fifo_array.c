/* FIFO with a ring of page numbers; a removed page leaves a hole, and holes are closed when the ring is full. */
#include "mm/policy.h"

#define SLOTS 16384u

struct fifo_array_page {
	u32 slot;
};
POLICY_PAGE_FITS(struct fifo_array_page);

static struct page *ring[SLOTS]; /* oldest first; NULL: a hole */
static u32 used; /* slots */
static int nr;

static u32 *slot_of(struct page *page)
{
	return &((struct fifo_array_page *)policy_page(page))->slot;
}

static void close_holes(void)
{
	u32 to = 0;

	for (u32 at = 0; at < used; at++)
		if (ring[at]) {
			*slot_of(ring[at]) = to;
			ring[to++] = ring[at];
		}
	used = to;
}

static void enter(struct page *page)
{
	if (used == SLOTS)
		close_holes();
	*slot_of(page) = used;
	ring[used++] = page;
	nr++;
}

static void leave(struct page *page)
{
	ring[*slot_of(page)] = NULL;
	nr--;
}

static void fifo_array_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			      struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enter(page);
}

static void fifo_array_remove(struct page *page, enum vm_out why)
{
	(void)why;
	leave(page);
}

static struct page *fifo_array_select(struct vm_scan *scan)
{
	close_holes();
	for (u32 at = 0; at < used; at++) {
		struct page *page = ring[at];

		if (!vm_scan_more(scan))
			return NULL;
		if (vm_eligible(scan, page)) {
			leave(page);
			return page;
		}
	}
	return NULL;
}

static void fifo_array_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enter(page);
}

static int fifo_array_check(void)
{
	return nr;
}

static const struct vm_policy fifo_array = {
	.name = "fifo_array",
	.summary = "first in, first out: an array",
	.insert = fifo_array_insert,
	.remove = fifo_array_remove,
	.select = fifo_array_select,
	.putback = fifo_array_putback,
	.check = fifo_array_check,
};
VM_POLICY(fifo_array);
