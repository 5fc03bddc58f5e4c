/*
 * Power of two: one list of free blocks for each size 2^k, and a header in each block.
 *
 * The header, one word, links a free block and names the list of a block in use, so free() needs no
 * size. An empty list gets a page, or more for larger blocks, cut into blocks of its size. They keep
 * this size for ever: nothing is merged, and no page is given back.
 *
 * Both operations take one step. The price is memory. A request of s bytes gets the lowest 2^k of at
 * least s + 4. If s + 4 is uniform over (2^(k-1), 2^k], its mean is 3/4 2^k + 1/2, so on average a share
 * of 1/4 - 2^-(k+1) is lost to rounding, and 4 / 2^k to the header. The worst request is a power of two
 * itself: because of the header it gets twice its size.
 *
 * Source: Vahalia, UNIX Internals (1996) 12.4.
 */
#include "allocsim.h"

#define HEADER 4u
#define NR_CLASSES 32

static struct list_head free_blocks[NR_CLASSES];

static void power_start(void)
{
	blocks_clear();
	for (u32 k = 0; k < NR_CLASSES; k++)
		INIT_LIST_HEAD(&free_blocks[k]);
}

static u32 class_of(u32 size)
{
	return log2_above(MAX(size + HEADER, unit));
}

/* Cuts pages into blocks of 2^k bytes. */
static bool refill(u32 k)
{
	u32 bytes = MAX(1u << k, PAGE_SIZE), address = pages_take(bytes / PAGE_SIZE);

	if (address == NONE)
		return false;
	for (u32 at = 0; at < bytes; at += 1u << k) {
		list_add_tail(&blocks[(address + at) / unit].list, &free_blocks[k]);
		tally.nr_free++;
	}
	return true;
}

static u32 power_alloc(u32 size)
{
	u32 k = class_of(size);
	struct block *b;

	tally.steps++;
	if (list_empty(&free_blocks[k]) && !refill(k))
		return NONE;
	b = list_first_entry(&free_blocks[k], struct block, list);
	list_del(&b->list);
	tally.nr_free--;
	tally.granted += 1u << k;
	return (b - blocks) * unit;
}

static void power_free(u32 address, u32 size)
{
	u32 k = class_of(size);

	tally.steps++;
	tally.granted -= 1u << k;
	tally.nr_free++;
	list_add(&blocks[address / unit].list, &free_blocks[k]);
}

static const struct allocator power_of_two = {
	.name = "power of two",
	.start = power_start,
	.alloc = power_alloc,
	.free = power_free,
};
ALLOCATOR(power_of_two);
