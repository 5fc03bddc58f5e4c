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
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/pagelist.h"

#define MAX_MIN_FREE 65536u /* KiB */

u32 min_free_kbytes;

static u32 reserve_ratio[MAX_ZONES];

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
	u32 above = 0, ratio = reserve_ratio[i];
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

/* Does nothing before the zones have frames. */
static void set_again(void)
{
	if (nr_managed_pages())
		zones_set_watermarks();
}

static const char *parse_min_free(const char *text)
{
	u32 kib;

	if (parse_u32(text, &kib) || kib > MAX_MIN_FREE)
		return "not a number of KiB in range";
	min_free_kbytes = kib;
	set_again();
	return NULL;
}

static void list_min_free(char *buf, size_t size)
{
	snprintf(buf, size, "0..%u KiB", MAX_MIN_FREE);
}

static void show_min_free(char *buf, size_t size)
{
	snprintf(buf, size, "%u", min_free_kbytes);
}

PARAM_CALL("vm.min_free_kbytes", parse_min_free, list_min_free, show_min_free,
	   "kept free for the kernel; 0: chosen by memory size");

/* Parses numbers separated by blanks. If there are fewer numbers than zones, the other zones keep theirs. */
static const char *parse_ratio(const char *text)
{
	char copy[40], *word = copy;
	u32 ratio[MAX_ZONES], nr = 0;

	if (strlcpy(copy, text, sizeof(copy)) >= sizeof(copy))
		return "too long";
	while (*word) {
		char *end = word;

		while (*end && *end != ' ' && *end != '\t')
			end++;
		if (*end)
			*end++ = '\0';
		if (*word && (nr == MAX_ZONES || parse_u32(word, &ratio[nr++])))
			return "not a number for each zone";
		word = end;
	}
	memcpy(reserve_ratio, ratio, nr * sizeof(*ratio));
	set_again();
	return NULL;
}

static void list_ratio(char *buf, size_t size)
{
	strlcpy(buf, "a number each for DMA, Normal and HighMem", size);
}

static void show_ratio(char *buf, size_t size)
{
	snprintf(buf, size, "%u %u %u", reserve_ratio[ZONE_DMA], reserve_ratio[ZONE_NORMAL],
		 reserve_ratio[ZONE_HIGHMEM]);
}

PARAM_CALL("vm.lowmem_reserve_ratio", parse_ratio, list_ratio, show_ratio,
	   "1/N of the frames of higher zones stays free in this one; 0: none");
