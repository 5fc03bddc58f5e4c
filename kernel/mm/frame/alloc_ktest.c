/*
 * Tests the buddy and slab allocators in the running kernel, with its real zones. None of these
 * tests sleeps, so no other task allocates or frees in between, and the counts must match exactly.
 */
#include "lib/ktap.h"
#include "lib/param.h"
#include "lib/string.h"
#include "mm/pagelist.h"
#include "mm/policy_core.h"
#include "mm/slab.h"
#include "mm/zone.h"

#define GFP_TEST (GFP_ATOMIC | GFP_NORETRY)

/* Free blocks of every zone and order: the same set of free frames always forms the same blocks. */
struct free_counts {
	u32 nr[MAX_ZONES][MAX_ORDER];
};

static struct free_counts count_free(void)
{
	struct free_counts counts;
	u32 z, order;

	for (z = 0; z < MAX_ZONES; z++)
		for (order = 0; order < MAX_ORDER; order++)
			counts.nr[z][order] = zones[z].free_area[order].nr_free;
	return counts;
}

static bool buddies_sound(void)
{
	u32 z;

	for (z = 0; z < MAX_ZONES; z++)
		if (zones[z].managed && buddy_check(&zones[z]))
			return false;
	return true;
}

KTEST(buddy_kernel, zones_are_sound)
{
	EXPECT(buddies_sound());
	EXPECT(nr_free_pages() <= nr_managed_pages());
}

KTEST(buddy_kernel, all_memory_can_be_taken_and_given_back)
{
	struct free_counts before = count_free(), after;
	struct page *page, *next;
	LIST_HEAD(held);
	u32 nr_held = 0, nr_free = nr_free_pages();

	while ((page = alloc_page(GFP_TEST | GFP_HIGH))) {
		list_add(&page->lru, &held);
		nr_held++;
	}
	EXPECT(nr_held > 0);
	EXPECT_EQ(nr_free_pages(), nr_free - nr_held);
	EXPECT(buddies_sound());
	list_for_each_entry_safe(page, next, &held, lru)
		free_pages(page, 0);
	after = count_free();
	EXPECT(!memcmp(&before, &after, sizeof(before)));
	EXPECT(buddies_sound());
}

static bool set_lists(const char *fraction)
{
	return !param_set("vm.percpu_pagelist_fraction", fraction, NULL, 0);
}

/* Returns an even frame of the list whose odd neighbour is on the list, too. */
static struct page *first_of_pair(const struct list_head *held)
{
	struct page *page, *other;

	list_for_each_entry(page, held, lru)
		list_for_each_entry(other, held, lru)
			if (!(page_pfn(page) & 1) && other == page + 1)
				return page;
	return NULL;
}

KTEST(buddy_kernel, lists_of_single_frames_give_way)
{
	struct free_counts before = count_free(), after;
	gfp_t all = GFP_TEST | GFP_RESERVE | GFP_HIGH;
	struct page *page, *next;
	LIST_HEAD(held);

	EXPECT(set_lists("8"));
	while ((page = alloc_page(all)))
		list_add(&page->lru, &held);
	EXPECT_EQ(nr_free_pages() + page_lists[ZONE_DMA].nr + page_lists[ZONE_NORMAL].nr, 0);
	page = first_of_pair(&held);
	list_del(&page->lru);
	list_del(&page[1].lru);
	free_pages(page, 0);
	free_pages(page + 1, 0);
	EXPECT_EQ(nr_free_pages(), 0);
	page = alloc_pages(all, 1);
	EXPECT(page);
	if (page)
		free_pages(page, 1);
	list_for_each_entry_safe(page, next, &held, lru)
		free_pages(page, 0);
	EXPECT(set_lists("0"));
	after = count_free();
	EXPECT(!memcmp(&before, &after, sizeof(before)));
	EXPECT(buddies_sound());
}

KTEST(buddy_kernel, every_order_is_aligned)
{
	struct free_counts before = count_free(), after;
	struct page *page;
	u32 order;

	for (order = 0; order < MAX_ORDER; order++) {
		page = alloc_pages(GFP_TEST, order);
		if (!page) {
			ktap_note("no free block of order %u", order);
			break;
		}
		EXPECT_EQ(page_pfn(page) & ((1u << order) - 1), 0);
		free_pages(page, order);
	}
	EXPECT(order > 0);
	after = count_free();
	EXPECT(!memcmp(&before, &after, sizeof(before)));
}

/* In Normal, for allocations that may use HighMem: ratio 1 reserves one frame for each HighMem frame. */
KTEST(buddy_kernel, reserve_is_counted_to_the_frame)
{
	const struct zone *z = &zones[ZONE_NORMAL];

	EXPECT(!param_set("vm.lowmem_reserve_ratio", "0 1 0", NULL, 0));
	EXPECT_EQ(z->keep[zone_keep(WMARK_MIN, ZONE_NORMAL)], z->watermark[WMARK_MIN]);
	EXPECT_EQ(z->keep[zone_keep(WMARK_LOW, ZONE_HIGHMEM)],
		  z->watermark[WMARK_LOW] + zones[ZONE_HIGHMEM].managed);
	EXPECT(!param_set("vm.lowmem_reserve_ratio", "0 0 0", NULL, 0));
	EXPECT_EQ(z->keep[zone_keep(WMARK_LOW, ZONE_HIGHMEM)], z->watermark[WMARK_LOW]);
}

/* Frames available to a policy: those that it owns, and those that are free for use. */
KTEST(buddy_kernel, frames_of_the_policy_are_counted_to_the_frame)
{
	u32 nr = 0;

	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		nr += page_test(pfn_page(pfn), PG_owned) || page_test(pfn_page(pfn), PG_isolated);
	for (u32 z = 0; z < MAX_ZONES; z++)
		nr += zones[z].nr_free - MIN(zones[z].nr_free, zones[z].watermark[WMARK_LOW]);
	EXPECT_EQ(vm_frames(), nr);
}

KTEST(slab_kernel, kmalloc_of_every_size)
{
	u32 in_use = slab_objects_in_use();
	u8 *p[13];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = kmalloc(32u << i, GFP_TEST);
		EXPECT(p[i] || i > 7); /* a large run of contiguous frames may not exist */
		if (p[i])
			memset(p[i], i, 32u << i);
	}
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		EXPECT(!p[i] || (p[i][0] == i && p[i][(32u << i) - 1] == i));
		kfree(p[i]);
	}
	EXPECT_EQ(kmalloc((128u << 10) + 1, GFP_TEST), NULL);
	EXPECT_EQ(slab_objects_in_use(), in_use);
	EXPECT_EQ(slab_check(), 0);
}

static u32 nr_constructed;

static void construct(void *obj)
{
	*(u32 *)obj = ++nr_constructed;
}

KTEST(slab_kernel, constructor_runs_once)
{
	struct kmem_cache *c = kmem_cache_create("ktest", 64, 0, construct);
	u32 *obj, made, i;

	if (!c) {
		ktap_skip("no memory");
		return;
	}
	nr_constructed = 0;
	obj = kmem_cache_alloc(c, GFP_TEST);
	EXPECT(obj != NULL);
	made = nr_constructed;
	for (i = 0; obj && i < 100; i++) {
		EXPECT(*obj != 0);
		kmem_cache_free(c, obj);
		obj = kmem_cache_alloc(c, GFP_TEST);
	}
	EXPECT(made > 0);
	EXPECT_EQ(nr_constructed, made);
	if (obj)
		kmem_cache_free(c, obj);
	EXPECT_EQ(kmem_cache_destroy(c), 0);
}

/* Allocates one slab of objects. Returns the colour: where in its page the first object lies. */
static u32 colour_of_new_slab(struct kmem_cache *c, void **objs, u32 per_slab)
{
	u32 i;

	for (i = 0; i < per_slab; i++)
		objs[i] = kmem_cache_alloc(c, GFP_TEST);
	return (uintptr_t)objs[0] & (PAGE_SIZE - 1);
}

KTEST(slab_kernel, slabs_are_coloured)
{
	enum { PER_SLAB = 20 }; /* 4096 / 200, with enough space left for one more colour */
	struct kmem_cache *c = kmem_cache_create("ktest", 200, 0, NULL);
	void *objs[2 * PER_SLAB];
	u32 first, second, i;

	if (!c) {
		ktap_skip("no memory");
		return;
	}
	first = colour_of_new_slab(c, objs, PER_SLAB);
	second = colour_of_new_slab(c, objs + PER_SLAB, PER_SLAB);
	EXPECT(first != second);
	for (i = 0; i < ARRAY_SIZE(objs); i++)
		if (objs[i])
			kmem_cache_free(c, objs[i]);
	EXPECT_EQ(kmem_cache_destroy(c), 0);
}

KTEST(slab_kernel, reap_gives_pages_back)
{
	static void *objs[200];
	u32 before, i;

	slab_reap();
	before = nr_free_pages();
	for (i = 0; i < ARRAY_SIZE(objs); i++)
		objs[i] = kmalloc(2048, GFP_TEST);
	EXPECT(nr_free_pages() <= before - 10);
	for (i = 0; i < ARRAY_SIZE(objs); i++)
		kfree(objs[i]);
	EXPECT(slab_reap() >= 10);
	EXPECT_EQ(nr_free_pages(), before);
	EXPECT_EQ(slab_check(), 0);
}
