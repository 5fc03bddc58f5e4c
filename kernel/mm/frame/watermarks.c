/*
 * How much of each zone is kept free, and for which allocations.
 *
 * min_free_kbytes is divided among the zones by size: min; low = min + min/4; high = min + min/2.
 *
 * Low memory serves all allocations, HIGHMEM only programs. When programs have filled HIGHMEM they
 * continue in the lower zones, and allocations that need low memory find none. lowmem_reserve_ratio
 * has a number for each zone: in zone i, an allocation that may use zones up to j leaves (frames of
 * zones i+1 to j) / ratio free, in addition to the watermark; 0: nothing. Linux's defaults are 256, 32
 * and 0. Here it is 0 for all, so that the policy can use all memory unless a reserve is requested.
 */
#include "mm/pagelist.h"

u32 min_free_kbytes, lowmem_reserve_ratio[MAX_ZONES];

static u32 sqrt_u32(u32 x)
{
	u32 r = 0;

	for (u32 bit = 1u << 15; bit; bit >>= 1)
		if ((u64)(r | bit) * (r | bit) <= x)
			r |= bit;
	return r;
}

/* Linux's choice: 4 * sqrt(low memory in KiB), at least 128 KiB. */
static u32 default_min_free_kbytes(void)
{
	u32 low_kib = (zones[ZONE_DMA].managed + zones[ZONE_NORMAL].managed) * 4;

	return MAX(128u, MIN(MAX_MIN_FREE, sqrt_u32(low_kib * 16)));
}

static void set_reserves(int i)
{
	u32 above = 0, ratio = lowmem_reserve_ratio[i];
	struct zone *z = &zones[i];

	for (int j = 0; j < MAX_ZONES; j++) {
		above += j > i ? zones[j].managed : 0;
		for (int mark = 0; mark < NR_WMARKS; mark++)
			z->keep[zone_keep(mark, j)] =
				z->watermark[mark] + (ratio ? above / ratio : 0);
	}
}

void zones_set_watermarks(void)
{
	u32 total = nr_managed_pages();

	if (!min_free_kbytes)
		min_free_kbytes = default_min_free_kbytes();
	for (int i = 0; i < MAX_ZONES; i++) {
		struct zone *z = &zones[i];
		u32 min = (u64)(min_free_kbytes / 4) * z->managed / total;

		z->watermark[WMARK_MIN] = min;
		z->watermark[WMARK_LOW] = min + min / 4;
		z->watermark[WMARK_HIGH] = min + min / 2;
		set_reserves(i);
	}
	if (pagelists)
		pagelists->resize();
}
