/*
 * The binary buddy allocator of one zone.
 *
 * Problem: allocate runs of 2^order frames, aligned to their size, quickly and without splitting
 * memory into pieces that never merge again.
 *
 * A free block of order k begins at a multiple of 2^k frames. Its buddy is the block with which it
 * forms a block of order k + 1, so the buddy's first frame is pfn ^ 2^k. An allocation takes a
 * block of the lowest order that has one and halves it until it fits; the upper halves stay free. A
 * freed block is merged with its buddy as long as the buddy is free and not split. With blocks of
 * one size this costs, on average, one halving and one merge per block, but every second block
 * needs none at all: this case has a path of its own, in a function that needs few registers.
 *
 * States of a frame, as this file sees them:
 *	allocated	its first frame has lru.next == LIST_POISON_NEXT until its owner uses lru
 *	free, first	PG_buddy, .order, linked by lru into free_area[order]
 *	free, inside	lru.next == INSIDE if it was once a block of its own; all other fields are stale
 * INSIDE makes it possible to detect a second free of a merged page. It also means that a block
 * must be freed as a whole, not page by page.
 *
 * A zone need not begin at a multiple of the largest block: a frame outside the zone is not a
 * buddy. Frames that do not exist are never freed into the zone, so they never have PG_buddy.
 *
 * Locks: none, but task context only. Left out: watermarks, waiting, which allocations may use
 * which zone (page_alloc.c), and lists of hot and cold frames (pagelist.c).
 *
 * Source: Knuth, The Art of Computer Programming 1, 2.5; Knowlton, CACM 8 (1965) 623.
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

/* lab: buddies */
#define INSIDE ((struct list_head *)0x300) /* an address at which the kernel has no page */

static inline void block_insert(struct zone *z, struct page *page, u32 order)
{
	struct free_area *area = &z->free_area[order];

	page->order = order;
	page_set(page, PG_buddy);
	list_add(&page->lru, &area->list);
	area->nr_free++;
}

/* Takes a block off its list and stores its new state in lru.next. */
static inline void block_remove(struct zone *z, struct page *page, u32 order,
				struct list_head *state)
{
	list_unlink(&page->lru);
	page->lru.next = state;
	page_clear(page, PG_buddy);
	z->free_area[order].nr_free--;
}

/* No block of this order is free: halves a larger one. */
static out_of_line struct page *alloc_by_halving(struct zone *z, u32 order)
{
	struct page *page;
	u32 k = order + 1;

	while (k < MAX_ORDER && list_empty(&z->free_area[k].list))
		k++;
	if (k >= MAX_ORDER)
		return NULL;
	page = list_first_entry(&z->free_area[k].list, struct page, lru);
	block_remove(z, page, k, LIST_POISON_NEXT);
	while (k > order) {
		k--;
		block_insert(z, page + (1u << k), k);
	}
	z->nr_free -= 1u << order;
	return page;
}

struct page *buddy_alloc(struct zone *z, u32 order)
{
	struct page *page;

	if (order >= MAX_ORDER || list_empty(&z->free_area[order].list))
		return alloc_by_halving(z, order);
	page = list_first_entry(&z->free_area[order].list, struct page, lru);
	block_remove(z, page, order, LIST_POISON_NEXT);
	z->nr_free -= 1u << order;
	return page;
}

/* Returns the buddy of the block at pfn if it is free, otherwise NULL. */
static inline struct page *free_buddy(const struct zone *z, u32 pfn, u32 order)
{
	u32 other = pfn ^ (1u << order);
	struct page *page = pfn_page(other);

	if (other < z->start_pfn || other >= z->end_pfn || order >= MAX_ORDER - 1)
		return NULL;
	return page_test(page, PG_buddy) && page->order == order ? page : NULL;
}

/* Merges the block at pfn with its buddy, which is free, and so on upwards; then inserts the result. */
static out_of_line void free_by_merging(struct zone *z, u32 pfn, u32 order)
{
	struct page *buddy;

	while ((buddy = free_buddy(z, pfn, order))) {
		block_remove(z, buddy, order, INSIDE);
		pfn &= ~(1u << order);
		order++;
	}
	block_insert(z, pfn_page(pfn), order);
}

void buddy_free(struct zone *z, struct page *page, u32 order)
{
	u32 pfn = page_pfn(page);

	ASSERT(!(pfn & ((1u << order) - 1)));
	ASSERT(!page_test(page, PG_buddy) && page->lru.next != INSIDE); /* fails if freed twice */
	z->nr_free += 1u << order;
	page->lru.next = INSIDE;
	if (free_buddy(z, pfn, order))
		free_by_merging(z, pfn, order);
	else
		block_insert(z, page, order);
}

/* Returns the number of blocks on one list, or -EINVAL. */
static int check_list(const struct zone *z, u32 order)
{
	const struct list_head *head = &z->free_area[order].list, *at;
	const struct page *page;
	u32 pfn, count = 0;

	list_for_each(at, head) {
		page = list_entry(at, struct page, lru);
		pfn = page_pfn(page);
		if (at->next->prev != at || ++count > z->free_area[order].nr_free)
			return -EINVAL;
		if (pfn < z->start_pfn || pfn + (1u << order) > z->end_pfn)
			return -EINVAL;
		if (!page_test(page, PG_buddy) || page->order != order || pfn % (1u << order))
			return -EINVAL;
		if (free_buddy(z, pfn, order))
			return -EINVAL;
	}
	return count;
}

/* Counts free blocks by their flags; a block hidden inside another one is not counted. */
static void count_blocks(const struct zone *z, u32 *nr_blocks)
{
	u32 pfn = z->start_pfn;

	while (pfn < z->end_pfn) {
		const struct page *page = pfn_page(pfn);

		if (page_test(page, PG_buddy) && page->order < MAX_ORDER) {
			nr_blocks[page->order]++;
			pfn += 1u << page->order;
		} else {
			pfn++;
		}
	}
}

int buddy_check(const struct zone *z)
{
	u32 nr_blocks[MAX_ORDER] = { 0 }, order, frames = 0;
	int count;

	count_blocks(z, nr_blocks);
	for (order = 0; order < MAX_ORDER; order++) {
		count = check_list(z, order);
		if (count < 0 || (u32)count != z->free_area[order].nr_free ||
		    (u32)count != nr_blocks[order])
			return -EINVAL;
		frames += (u32)count << order;
	}
	return frames == z->nr_free ? 0 : -EINVAL;
}
/* lab: end */
