/*
 * The page allocator of one zone, in its simplest form. Make it the binary buddy allocator.
 *
 * Problem: allocate runs of 2^order frames, aligned to their size, quickly and without splitting
 * memory into pieces that never merge again.
 *
 * The present code works. Every free frame is marked individually, as a block of order 0 that is on no
 * list. An allocation tries one aligned place after the other, from the start of the zone, until it
 * finds one where all frames are free. So blocks never have to be merged. But an allocation takes
 * longer the fuller memory is, and small blocks are cut out of the middle of large
 * holes.
 *
 * Your task. A free block of order k begins at a multiple of 2^k frames. Its buddy is the block
 * with which it forms a block of order k + 1.
 *
 *	buddy_alloc	takes a block of the lowest order that has one, halves it until it fits,
 *			and puts the halves it does not need on the lists of their orders
 *	buddy_free	merges the block with its buddy while the buddy is free and not split, and
 *			puts the result on the list of its order
 *	buddy_check	returns 0 if lists, counts and flags are consistent, otherwise -EINVAL
 *
 * States of a frame, as defined in mm/page.h and mm/zone.h:
 *	free, first	PG_buddy, .order, linked by lru into free_area[order]
 *	free, inside	of a larger free block: PG_buddy is clear
 *	allocated	PG_buddy is clear; lru and the other fields are the owner's
 * A frame that was never freed into the zone does not exist for the allocator. A zone need not
 * begin at a multiple of the largest block: a frame outside the zone is not a buddy.
 *
 * Freeing a block twice, or at an address where no block of its order can begin, is a bug of the
 * kernel: ASSERT that it does not happen.
 */
#include "errno.h"
#include "lib/assert.h"
#include "mm/zone.h"

void buddy_init(struct zone *z)
{
	u32 order;

	z->nr_free = 0;
	for (order = 0; order < MAX_ORDER; order++) {
		INIT_LIST_HEAD(&z->free_area[order].list);
		z->free_area[order].nr_free = 0;
	}
}

/* Are all 2^order frames from pfn on free? */
static bool run_is_free(u32 pfn, u32 order)
{
	u32 i;

	for (i = 0; i < 1u << order; i++)
		if (!page_test(pfn_page(pfn + i), PG_buddy))
			return false;
	return true;
}

static void count_free(struct zone *z, u32 nr_free)
{
	z->nr_free = nr_free;
	z->free_area[0].nr_free = nr_free;
}

struct page *buddy_alloc(struct zone *z, u32 order)
{
	u32 pfn = ALIGN_UP(z->start_pfn, 1u << order), i;

	if (order >= MAX_ORDER || z->nr_free < 1u << order)
		return NULL;
	while (pfn + (1u << order) <= z->end_pfn && !run_is_free(pfn, order))
		pfn += 1u << order;
	if (pfn + (1u << order) > z->end_pfn)
		return NULL;
	for (i = 0; i < 1u << order; i++)
		page_clear(pfn_page(pfn + i), PG_buddy);
	count_free(z, z->nr_free - (1u << order));
	return pfn_page(pfn);
}

void buddy_free(struct zone *z, struct page *page, u32 order)
{
	u32 i;

	ASSERT(!(page_pfn(page) & ((1u << order) - 1)));
	for (i = 0; i < 1u << order; i++) {
		ASSERT(!page_test(page + i, PG_buddy)); /* fails if freed twice */
		page_set(page + i, PG_buddy);
		page[i].order = 0;
	}
	count_free(z, z->nr_free + (1u << order));
}

int buddy_check(const struct zone *z)
{
	u32 pfn, nr_free = 0;

	for (pfn = z->start_pfn; pfn < z->end_pfn; pfn++)
		nr_free += page_test(pfn_page(pfn), PG_buddy);
	return nr_free == z->nr_free && nr_free == z->free_area[0].nr_free ? 0 : -EINVAL;
}
