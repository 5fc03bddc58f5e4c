/*
 * The kernel's own allocators beside the others: mm/frame/buddy.c and mm/frame/slab.c, linked unchanged.
 *
 * buddy	A frame of a zone stands for a unit. The largest block has 2^10 units; larger requests fail.
 *		What it does is seen from outside: if an allocation takes a block of order k for order j, the
 *		number of free blocks grows by k - j - 1; if a free merges m times, it grows by 1 - m.
 * slab		One cache for each size in units. Its steps cannot be seen from outside, and count as 0.
 */
#include "sim.h"

#include "mm/slab.h"

#define MAX_OBJECT (128u << 10)

static struct zone units;
static struct kmem_cache *caches[MAX_OBJECT / 16 + 1]; /* by size in units */

u32 zone_blocks(const struct zone *z)
{
	u32 nr = 0;

	for (u32 order = 0; order < MAX_ORDER; order++)
		nr += z->free_area[order].nr_free;
	return nr;
}

static void kernel_buddy_start(void)
{
	zone_fill(&units, UNITS_AT, nr_units);
	tally.nr_free = zone_blocks(&units);
}

static u32 kernel_buddy_alloc(u32 size)
{
	u32 order = log2_above(in_units(size)), address, splits;
	struct page *page = buddy_alloc(&units, order);

	if (!page)
		return NONE;
	splits = zone_blocks(&units) + 1 - tally.nr_free;
	tally.nr_free = zone_blocks(&units);
	tally.splits += splits;
	tally.steps += splits + 1;
	address = (page_pfn(page) - UNITS_AT) * unit;
	hold(address, unit << order);
	return address;
}

static void kernel_buddy_free(u32 address, u32 size)
{
	u32 order = log2_above(in_units(size)), merges;

	release(address, unit << order);
	buddy_free(&units, pfn_page(UNITS_AT + address / unit), order);
	merges = tally.nr_free + 1 - zone_blocks(&units);
	tally.nr_free = zone_blocks(&units);
	tally.merges += merges;
	tally.steps += merges + 1;
}

static bool kernel_buddy_sound(void)
{
	return !buddy_check(&units);
}

static const struct allocator kernel_buddy = {
	.name = "buddy",
	.start = kernel_buddy_start,
	.alloc = kernel_buddy_alloc,
	.free = kernel_buddy_free,
	.sound = kernel_buddy_sound,
};
ALLOCATOR(kernel_buddy);

static void kernel_slab_start(void)
{
	for (u32 n = 0; n <= MAX_OBJECT / 16; n++)
		caches[n] = NULL;
	slab_init();
	slab_boot_done();
}

static u32 kernel_slab_alloc(u32 size)
{
	u32 n = in_units(size);
	char *object;

	if (n * unit > MAX_OBJECT)
		return NONE;
	if (!caches[n])
		caches[n] = kmem_cache_create("objects", n * unit, unit, NULL);
	object = caches[n] ? kmem_cache_alloc(caches[n], GFP_KERNEL) : NULL;
	if (!object)
		return NONE;
	tally.granted += n * unit;
	return object - host_ram;
}

static void kernel_slab_free(u32 address, u32 size)
{
	tally.granted -= in_units(size) * unit;
	kmem_cache_free(caches[in_units(size)], host_ram + address);
}

static void kernel_slab_reap(void)
{
	slab_reap();
}

static bool kernel_slab_sound(void)
{
	return !slab_check();
}

static const struct allocator kernel_slab = {
	.name = "slab",
	.start = kernel_slab_start,
	.alloc = kernel_slab_alloc,
	.free = kernel_slab_free,
	.reap = kernel_slab_reap,
	.sound = kernel_slab_sound,
};
ALLOCATOR(kernel_slab);
