/*
 * Allocation of frames: zones, watermarks, and what happens when there are none.
 *
 * An allocation tries its zones from the highest down. While a zone keeps more than its low
 * watermark it simply gives. When all are below low, kswapd is woken and the allocation may go
 * down to min. Below min a task that may sleep reclaims for itself; reclaim itself, and a task
 * that is being killed to free memory, may take the rest. When reclaim finds nothing the
 * out-of-memory killer is asked.
 *
 * min_free_kbytes is shared out over the zones by size: min; low = min + min/4; high = min + min/2.
 */
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/oom.h"
#include "mm/reclaim.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "proc/task.h"

#define MAX_TRIES 16
#define MAX_MIN_FREE 65536u /* KiB */

struct zone zones[MAX_ZONES];
u32 min_free_kbytes;

u32 nr_free_pages(void)
{
	return zones[0].nr_free + zones[1].nr_free + zones[2].nr_free;
}

u32 nr_managed_pages(void)
{
	return zones[0].managed + zones[1].managed + zones[2].managed;
}

static u32 sqrt_u32(u32 x)
{
	u32 r = 0;

	for (u32 bit = 1u << 15; bit; bit >>= 1)
		if ((u64)(r | bit) * (r | bit) <= x)
			r |= bit;
	return r;
}

/* Linux's choice: 4 * sqrt(low memory in KiB), from 128 KiB up. */
static u32 default_min_free_kbytes(void)
{
	u32 low_kib = (zones[ZONE_DMA].managed + zones[ZONE_NORMAL].managed) * 4;

	return MAX(128u, MIN(MAX_MIN_FREE, sqrt_u32(low_kib * 16)));
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
	}
}

static const char *parse_min_free(const char *text)
{
	u32 kib;

	if (parse_u32(text, &kib) || kib > MAX_MIN_FREE)
		return "not a number of KiB in range";
	min_free_kbytes = kib;
	if (nr_managed_pages()) /* else it is too early */
		zones_set_watermarks();
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

static int highest_zone(gfp_t gfp)
{
	if (gfp & GFP_HIGH)
		return ZONE_HIGHMEM;
	return gfp & GFP_DMA ? ZONE_DMA : ZONE_NORMAL;
}

static struct page *alloc_from_zones(gfp_t gfp, u32 order, int mark)
{
	for (int i = highest_zone(gfp); i >= 0; i--) {
		struct zone *z = &zones[i];
		u32 keep = mark < 0 ? 0 : z->watermark[mark];
		struct page *page;

		if (z->nr_free < keep + (1u << order))
			continue;
		page = buddy_alloc(z, order);
		if (likely(page)) {
			z->nr_alloc += 1u << order;
			return page;
		}
	}
	return NULL;
}

static struct page *prepare(struct page *page, gfp_t gfp, u32 order)
{
	stat_add(pgalloc, 1u << order);
	page->count = 1;
	if (gfp & GFP_ZERO)
		for (u32 i = 0; i < 1u << order; i++) {
			void *va = kmap(page + i);

			clear_page(va);
			kunmap(va);
		}
	return page;
}

/* Which reserve this caller may go down to: a watermark, or -1: everything. */
static int reserve_mark(gfp_t gfp)
{
	if (gfp & GFP_RESERVE || current->flags & (TF_RECLAIM | TF_OOM_VICTIM))
		return -1;
	return WMARK_MIN;
}

static struct page *alloc_slow(gfp_t gfp, u32 order)
{
	u32 zone_mask = (2u << highest_zone(gfp)) - 1;
	struct page *page;

	kswapd_wake();
	for (u32 tries = 0;; tries++) {
		page = alloc_from_zones(gfp, order, reserve_mark(gfp));
		if (page)
			return page;
		if (!(gfp & GFP_WAIT) || current->flags & TF_RECLAIM)
			return NULL;
		if (order && tries > MAX_TRIES) /* frames come, but not side by side */
			return NULL;
		if (direct_reclaim(zone_mask))
			continue;
		if (gfp & GFP_NORETRY || order > 3 || current->flags & TF_OOM_VICTIM)
			return NULL;
		if (!out_of_memory())
			return NULL;
	}
}

struct page *alloc_pages(gfp_t gfp, u32 order)
{
	struct page *page = alloc_from_zones(gfp, order, WMARK_LOW);

	if (unlikely(!page))
		page = alloc_slow(gfp, order);
	return page ? prepare(page, gfp, order) : NULL;
}

void free_pages(struct page *page, u32 order)
{
	struct zone *z = page_zone(page);

	ASSERT(page->count == 1);
	page->count = 0;
	stat_add(pgfree, 1u << order);
	z->nr_freed += 1u << order;
	buddy_free(z, page, order);
}

void *get_free_pages(gfp_t gfp, u32 order)
{
	struct page *page;

	ASSERT(!(gfp & GFP_HIGH));
	page = alloc_pages(gfp, order);
	return page ? page_address(page) : NULL;
}

void free_pages_at(void *va, u32 order)
{
	free_pages(virt_page(va), order);
}
