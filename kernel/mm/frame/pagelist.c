/*
 * Lists of single free frames in front of the buddy allocator, one for each zone.
 *
 * Linux has one for each processor and zone, so that most allocations take no lock, and so that a
 * frame whose contents may still be in the processor's cache ("hot") is reused first. Here there is
 * one processor and no lock, and QEMU has no such cache. The remaining gain is the halving and
 * merging that every second frame needs. The cost is that frames on the lists are not free for other
 * uses, and that large blocks do not form meanwhile. Measured in 64 MiB, a page touched and a page
 * unmapped, 256 of each in turn: 1,107 and 299 instructions without lists, 1,076 and 237 with
 * N = 8, 1,128 and 311 with N = 100. So there are no lists by default.
 *
 * vm.percpu_pagelist_fraction = N (8 or more): the list of a zone takes at most 1/N of its frames
 * (`high`). It is filled from the buddy and emptied into it in batches (`batch`) of a quarter of
 * that, at most 96 frames. 0 means no lists, whereas Linux then uses sizes of its own. A frame on a
 * list counts as allocated, not as free (nr_free), for the buddy, too.
 *
 *	freed by its user	hot: at the head, from where it is allocated
 *	freed by reclaim	cold: at the tail, from where the list is emptied
 *
 * When the zones have fallen to a watermark, all lists are emptied before any task reclaims,
 * searches for contiguous frames, or is killed.
 */
#include "mm/pagelist.h"

#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"

#define MIN_FRACTION 8u
#define MAX_BATCH (8 * PAGE_SHIFT)

struct page_list page_lists[MAX_ZONES];
static u32 fraction; /* 0: no lists are used */

static void fill(struct zone *z, struct page_list *l)
{
	struct page *page;

	for (u32 n = 0; n < l->batch && (page = buddy_alloc(z, 0)); n++) {
		list_add_tail(&page->lru, &l->pages);
		l->nr++;
	}
}

/* Returns nr frames to the buddy allocator, the coldest first. */
static void give_back(struct zone *z, struct page_list *l, u32 nr)
{
	for (; nr && l->nr; nr--, l->nr--) {
		struct page *page = list_entry(l->pages.prev, struct page, lru);

		list_del(&page->lru);
		buddy_free(z, page, 0);
	}
}

static struct page *pagelist_alloc(struct zone *z, u32 order)
{
	struct page_list *l = &page_lists[z - zones];
	struct page *page;

	if (order || !l->high)
		return buddy_alloc(z, order);
	if (!l->nr)
		fill(z, l);
	if (!l->nr)
		return NULL;
	page = list_first_entry(&l->pages, struct page, lru);
	list_del(&page->lru);
	l->nr--;
	return page;
}

static void pagelist_free(struct zone *z, struct page *page, u32 order, bool cold)
{
	struct page_list *l = &page_lists[z - zones];

	if (order || !l->high) {
		buddy_free(z, page, order);
		return;
	}
	if (cold)
		list_add_tail(&page->lru, &l->pages);
	else
		list_add(&page->lru, &l->pages);
	if (++l->nr >= l->high)
		give_back(z, l, l->batch);
}

static bool pagelists_drain(void)
{
	u32 nr = 0;

	for (u32 i = 0; i < MAX_ZONES; i++) {
		nr += page_lists[i].nr;
		give_back(&zones[i], &page_lists[i], page_lists[i].nr);
	}
	return nr;
}

static void pagelists_resize(void)
{
	pagelists_drain();
	for (u32 i = 0; i < MAX_ZONES; i++) {
		struct page_list *l = &page_lists[i];

		INIT_LIST_HEAD(&l->pages);
		l->high = fraction ? zones[i].managed / fraction : 0;
		l->batch = l->high ? MIN(MAX(l->high / 4, 1u), MAX_BATCH) : 0;
	}
}

static const struct pagelist_ops ops = {
	.alloc = pagelist_alloc,
	.free = pagelist_free,
	.drain = pagelists_drain,
	.resize = pagelists_resize,
};

static const char *parse_fraction(const char *text)
{
	u32 n;

	if (parse_u32(text, &n) || (n && n < MIN_FRACTION))
		return "neither 0 nor a number of 8 or more";
	fraction = n;
	pagelists = fraction ? &ops : NULL;
	pagelists_resize();
	return NULL;
}

static void list_fraction(char *buf, size_t size)
{
	snprintf(buf, size, "0, or a number of %u or more", MIN_FRACTION);
}

static void show_fraction(char *buf, size_t size)
{
	snprintf(buf, size, "%u", fraction);
}

PARAM_CALL("vm.percpu_pagelist_fraction", parse_fraction, list_fraction, show_fraction,
	   "1/N of a zone's frames may be on its list of single frames; 0: no lists");
