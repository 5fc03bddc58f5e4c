/* LRU-K: what counts as a use, and what is known about a page that comes back. */
#include "lruk.c"

#include "../../lib/rbtree.c"
#include "../../lib/seq_file.c"
#include "host/fake_core.h"

static struct mm_struct *mm;

static void start(void)
{
	core_now_ns = 0;
	core_start(&lruk, 64);
	mm = core_mm_new();
}

static void pass_ms(u32 ms)
{
	core_now_ns += (u64)ms << 20;
}

static void insert(u32 pfn, u32 slot)
{
	core_insert(&mem_map[pfn], mm, VM_IN_FAULT, (struct page_id){ slot ? 1 : 0, slot });
	pass_ms(correlated_ms);
}

static void evict(u32 pfn, u32 slot)
{
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[pfn]);
	core_evicted(&mem_map[pfn], (struct page_id){ 1, slot });
}

KTEST(lruk, page_used_twice_outlives_newer_pages)
{
	start();
	for (u32 i = 0; i < 4; i++)
		insert(i, 0);
	core_touch(&mem_map[0], VM_TOUCH_IO);
	core_touch(&mem_map[2], VM_TOUCH_IO);
	pass_ms(correlated_ms);
	for (u32 i = 4; i < 8; i++)
		insert(i, 0);
	evict(1, 1);
	evict(3, 2);
	evict(4, 3);
	evict(5, 4);
	evict(6, 5);
	evict(0, 6); /* its second last use is before that of page 2; page 7 is in its period */
	evict(2, 7);
	evict(7, 8);
	core_stop();
}

KTEST(lruk, uses_within_the_period_do_not_count)
{
	start();
	core_insert(&mem_map[0], mm, VM_IN_FAULT, (struct page_id){ 0 });
	core_touch(&mem_map[0], VM_TOUCH_IO);
	page_set(&mem_map[0], PG_young);
	pass_ms(correlated_ms);
	insert(1, 0);
	EXPECT(!page_young(&mem_map[0]));
	EXPECT_EQ(lruk_data(&mem_map[0])->uses, 1);
	EXPECT_EQ(lruk_data(&mem_map[0])->place, FEW);
	page_set(&mem_map[0], PG_young);
	insert(2, 0);
	evict(1, 1);
	EXPECT_EQ(lruk_data(&mem_map[0])->uses, 2);
	core_stop();
}

/* Fast faults: at most an eighth of the frames is in the period, so there is always a page to evict. */
KTEST(lruk, period_ends_early_if_too_many_pages_are_in_it)
{
	start();
	for (u32 i = 0; i < 60; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	EXPECT_EQ(nr[RECENT], 8);
	EXPECT_EQ(nr[FEW], 52);
	core_stop();
}

KTEST(lruk, page_that_comes_back_has_two_known_uses_for_a_while)
{
	start();
	insert(0, 0);
	insert(1, 0);
	evict(0, 1);
	core_drop_isolated(core_reclaim(ZONES_ALL));
	insert(0, 1);
	EXPECT_EQ(lruk_data(&mem_map[0])->uses, 2);
	EXPECT_EQ(lruk_data(&mem_map[0])->before_ms, 0);
	EXPECT_EQ(ghosts.nr, 0);
	core_remove(&mem_map[0], VM_OUT_FREED);

	insert(1, 0);
	evict(1, 2);
	pass_ms(retained_ms);
	insert(1, 2);
	EXPECT_EQ(lruk_data(&mem_map[1])->uses, 1);
	core_stop();
}

/* Read-ahead is not a use, and does not spend the ghost; the claim is a use. */
KTEST(lruk, claim_finds_the_ghost_that_readahead_left)
{
	struct page *page;

	start();
	page = &mem_map[3];
	page_set(page, PG_slab);
	page->slot = 7;
	core_insert(page, mm, VM_IN_FAULT, page_id_of(page));
	pass_ms(correlated_ms);
	EXPECT_EQ(core_reclaim(ZONES_ALL), page);
	core_evicted(page, page_id_of(page));
	core_insert(page, NULL, VM_IN_PREFETCH, page_id_of(page));
	EXPECT_EQ(lruk_data(page)->uses, 0);
	EXPECT_EQ(ghosts.nr, 1);
	core_remove(page, VM_OUT_MOVED);
	core_insert(page, mm, VM_IN_CLAIM, page_id_of(page));
	EXPECT_EQ(lruk_data(page)->uses, 2);
	core_stop();
}

KTEST(lruk, table_of_ghosts_is_bounded)
{
	start();
	for (u32 slot = 1; slot <= 200; slot++) {
		insert(0, 0);
		evict(0, slot);
	}
	EXPECT_EQ(ghosts.nr, 64);
	EXPECT(!ghost_find(&ghosts, (struct page_id){ 1, 136 }));
	EXPECT(ghost_find(&ghosts, (struct page_id){ 1, 137 }));
	core_stop();
}
