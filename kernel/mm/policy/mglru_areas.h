/*
 * MGLRU's areas: the parts of memory in which pages are in use.
 *
 * Most pages are not in use, and checking each of them is expensive. But pages in use are
 * neighbours. So a walk looks only at areas in use; an area is what one page table maps, of a
 * process or of a file. It is in use if, since the last walk began, at least eight of its pages were
 * found used, and at least one in eight of the pages checked. The first walk checks all pages.
 *
 * Linux records such areas in a Bloom filter, which may take one area for another. Here a hash gives
 * each area a number, and two areas with the same number count as one.
 *
 * Linux 6.1, mm/vmscan.c (suitable_to_scan, update_bloom_filter).
 */
#ifndef MGLRU_AREAS_H
#define MGLRU_AREAS_H

#include "mm/policy.h"

enum kind { ANON, FILES, NR_KINDS };

#define AREA_PAGES 1024
#define NR_AREAS 128 /* of each kind */
#define MIN_USED 8 /* an area is in use if 8 of its pages, and 1 in 8 of those asked, are used */

static struct area {
	u32 asked, used; /* pages of the area, since the last walk began */
	bool in_use;
} areas[NR_KINDS][NR_AREAS];

static void areas_init(void)
{
	for (int i = 0; i < NR_KINDS * NR_AREAS; i++)
		areas[i / NR_AREAS][i % NR_AREAS] = (struct area){ .in_use = true };
}

static struct area *area_of(enum kind kind, struct page *page)
{
	u32 space = kind == FILES ? page_id_of(page).store : (uintptr_t)page_mm(page) / 64;

	return &areas[kind][(space + page_vpn(page) / AREA_PAGES) % NR_AREAS];
}

/* A walk begins: finds the areas in use. Returns false if there are none. */
static bool areas_begin_walk(bool first)
{
	bool any = first;

	for (int i = 0; !first && i < NR_KINDS * NR_AREAS; i++) {
		struct area *area = &areas[i / NR_AREAS][i % NR_AREAS];

		area->in_use = area->used >= MIN_USED && MIN_USED * area->used >= area->asked;
		area->asked = area->used = 0;
		any |= area->in_use;
	}
	return any;
}

#endif
