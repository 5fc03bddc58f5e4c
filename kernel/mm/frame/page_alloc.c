/*
 * Allocation of frames: zones, watermarks, and what happens when no frame is free.
 *
 * An allocation tries its zones from the highest down. A zone above its low watermark gives frames
 * without further checks. If all are below low, kswapd is woken and the allocation may go down to min.
 * Below min, a task that may sleep reclaims for itself. The rest may be used by reclaim itself, by a task
 * that writes pages of files, and by a task that is being killed to free memory. If reclaim finds nothing,
 * the OOM killer is called; if there is no process left to kill, init may use the rest, too. Single
 * frames may come from a list in front of the buddy (pagelist.c). watermarks.c computes the watermarks.
 */
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/oom.h"
#include "mm/pagelist.h"
#include "mm/reclaim.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "observe/fail.h"
#include "sched/current.h"

#define MAX_TRIES 16

struct zone zones[MAX_ZONES];
const struct pagelist_ops *pagelists;

u32 nr_free_pages(void)
{
	return zones[0].nr_free + zones[1].nr_free + zones[2].nr_free;
}

u32 nr_managed_pages(void)
{
	return zones[0].managed + zones[1].managed + zones[2].managed;
}

static int highest_zone(gfp_t gfp)
{
	if (gfp & GFP_HIGH)
		return ZONE_HIGHMEM;
	return gfp & GFP_DMA ? ZONE_DMA : ZONE_NORMAL;
}

static struct page *alloc_from_zones(gfp_t gfp, u32 order, int mark)
{
	int highest = highest_zone(gfp), which = zone_keep(mark, highest);
	struct zone *z = &zones[highest];

	do {
		u32 keep = which < 0 ? 0 : z->keep[which];
		struct page *page;

		if (z->nr_free < keep + (1u << order))
			continue;
		if (unlikely(pagelists))
			page = pagelists->alloc(z, order);
		else
			page = buddy_alloc(z, order);
		if (likely(page)) {
			z->nr_alloc += 1u << order;
			return page;
		}
	} while (z-- != zones);
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

/* Returns the reserve that this caller may go down to: a watermark, or -1 for all of it. */
static int reserve_mark(gfp_t gfp)
{
	if (gfp & GFP_RESERVE || current->flags & (TF_RECLAIM | TF_WRITING | TF_OOM_VICTIM))
		return -1;
	return WMARK_MIN;
}

/* Sleeps until the victim has exited: this also counts as waiting for a frame. */
static bool kill_for_memory(void)
{
	bool killed;

	reclaim_begin();
	killed = out_of_memory();
	reclaim_end();
	return killed;
}

static bool drain_lists(void)
{
	return pagelists && pagelists->drain();
}

static struct page *alloc_slow(gfp_t gfp, u32 order)
{
	u32 zone_mask = (2u << highest_zone(gfp)) - 1;
	struct page *page;

	if (drain_lists() && (page = alloc_from_zones(gfp, order, WMARK_LOW)))
		return page;
	kswapd_wake();
	for (u32 tries = 0;; tries++) {
		drain_lists();
		page = alloc_from_zones(gfp, order, reserve_mark(gfp));
		if (page)
			return page;
		if (!(gfp & GFP_WAIT) || current->flags & (TF_RECLAIM | TF_WRITING))
			return NULL;
		if (order && tries > MAX_TRIES) /* frames become free, but not contiguous ones */
			return NULL;
		if (direct_reclaim(zone_mask))
			continue;
		if (gfp & GFP_NORETRY || order > 3 || current->flags & TF_OOM_VICTIM)
			return NULL;
		if (!kill_for_memory())
			return current->pid == 1 ? alloc_from_zones(gfp, order, -1) : NULL;
	}
}

struct page *alloc_pages(gfp_t gfp, u32 order)
{
	struct page *page;

	if (fail_alloc())
		return NULL;
	page = alloc_from_zones(gfp, order, WMARK_LOW);
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
	if (unlikely(pagelists))
		pagelists->free(z, page, order, current->flags & TF_RECLAIM);
	else
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
