/*
 * McKusick-Karels: lists of powers of two without headers.
 *
 * All blocks of a page have one size, which a table beside the memory (kmemsizes) keeps for each page.
 * So a block needs no header, and a request that is a power of two wastes nothing. Requests above half a
 * page are rounded up to whole pages, which are given back when they are freed. The pages of smaller
 * blocks are never given back.
 *
 * A request of s bytes up to half a page gets the lowest 2^k of at least s. If s is uniform over
 * (2^(k-1), 2^k], a share of 1/4 - 2^-(k+1) is lost on average.
 *
 * Source: McKusick and Karels, Design of a General Purpose Memory Allocator for the 4.3BSD UNIX Kernel,
 * USENIX Summer 1988.
 */
#include "allocsim.h"

#define LARGEST_CLASS 11 /* half a page */
#define PAGES(bytes) (((bytes) + PAGE_SIZE - 1) / PAGE_SIZE)

static struct list_head free_blocks[LARGEST_CLASS + 1];
static u8 class_of_page[MAX_UNITS]; /* kmemsizes */

static void mk_start(void)
{
	blocks_clear();
	for (u32 k = 0; k <= LARGEST_CLASS; k++)
		INIT_LIST_HEAD(&free_blocks[k]);
}

static u32 class_of(u32 size)
{
	return log2_above(MAX(size, unit));
}

static bool refill(u32 k)
{
	u32 address = pages_take(1);

	if (address == NONE)
		return false;
	class_of_page[address / PAGE_SIZE] = k;
	for (u32 at = 0; at < PAGE_SIZE; at += 1u << k) {
		list_add_tail(&blocks[(address + at) / unit].list, &free_blocks[k]);
		tally.nr_free++;
	}
	return true;
}

static u32 alloc_large(u32 size)
{
	u32 address = pages_take(PAGES(size));

	if (address == NONE)
		return NONE;
	class_of_page[address / PAGE_SIZE] = LARGEST_CLASS + 1;
	tally.granted += PAGES(size) * PAGE_SIZE;
	return address;
}

static u32 mk_alloc(u32 size)
{
	u32 k = class_of(size);
	struct block *b;

	tally.steps++;
	if (k > LARGEST_CLASS)
		return alloc_large(size);
	if (list_empty(&free_blocks[k]) && !refill(k))
		return NONE;
	b = list_first_entry(&free_blocks[k], struct block, list);
	list_del(&b->list);
	tally.nr_free--;
	tally.granted += 1u << k;
	return (b - blocks) * unit;
}

static void mk_free(u32 address, u32 size)
{
	u32 k = class_of_page[address / PAGE_SIZE];

	tally.steps++;
	if (k > LARGEST_CLASS) {
		tally.granted -= PAGES(size) * PAGE_SIZE;
		pages_give(address, PAGES(size));
		return;
	}
	tally.granted -= 1u << k;
	tally.nr_free++;
	list_add(&blocks[address / unit].list, &free_blocks[k]);
}

static const struct allocator mckusick_karels = {
	.name = "McKusick-Karels",
	.start = mk_start,
	.alloc = mk_alloc,
	.free = mk_free,
};
ALLOCATOR(mckusick_karels);
