/* CLOCK-Pro: the next victim of the cold hand, and the target number of cold pages. */
#include "clockpro.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

KTEST(clockpro, takes_first_what_is_not_needed)
{
	struct mm_struct *mm;

	core_start(&clockpro, 8);
	mm = core_mm_new();
	for (u32 i = 0; i < 6; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	core_touch(&mem_map[4], VM_TOUCH_DONTNEED);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[4]);
	core_touch(&mem_map[5], VM_TOUCH_DONTNEED);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[5]);
	core_drop_isolated(&mem_map[4]);
	core_drop_isolated(&mem_map[5]);
	core_stop();
}

/* The hand has passed the first page, and does not return to it. */
KTEST(clockpro, goes_on_where_it_was_after_a_page_that_is_not_needed)
{
	core_start(&clockpro, 8);
	core_mm_new();
	for (u32 i = 0; i < 6; i++)
		core_insert(&mem_map[i], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
	page_set(&mem_map[0], PG_locked);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[1]);
	page_clear(&mem_map[0], PG_locked);
	core_touch(&mem_map[5], VM_TOUCH_DONTNEED);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[5]);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[2]);
	for (u32 i = 0; i < 6; i++)
		if (page_test(&mem_map[i], PG_isolated))
			core_drop_isolated(&mem_map[i]);
	core_stop();
}

/* The other pages are hot, and stay hot. */
KTEST(clockpro, skips_cold_pages_that_the_scan_may_not_have)
{
	struct vm_scan scan;
	struct page *page;

	core_start(&clockpro, 8);
	core_mm_new();
	for (u32 i = 0; i < 6; i++)
		core_insert(&mem_map[i], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
	page_set(&mem_map[0], PG_locked);
	page_set(&mem_map[1], PG_locked);
	scan = policy_scan(ZONES_ALL, DEF_PRIORITY);
	page = core_select(&scan);
	EXPECT_EQ(page, &mem_map[2]);
	if (page)
		core_drop_isolated(page);
	core_stop();
}

KTEST(clockpro, more_cold_pages_are_never_wanted_than_there_are_frames_but_one)
{
	core_start(&clockpro, 4);
	for (int i = 0; i < 10; i++)
		used_in_test();
	EXPECT_EQ(cold_wanted(), 3);
	core_frames = 8; /* no target was saved up for more memory */
	EXPECT_EQ(cold_wanted(), 3);
	core_stop();
}

/* A page that is evicted during its test and read again had a small reuse distance. */
KTEST(clockpro, page_that_has_a_ghost_comes_back_hot)
{
	struct page_id slot = { 1, 7 };
	struct page *page;

	core_start(&clockpro, 8);
	core_mm_new();
	for (u32 i = 0; i < 6; i++)
		core_insert(&mem_map[i], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
	page = core_reclaim(ZONES_ALL);
	core_evicted(page, slot);
	EXPECT_EQ(nr_ghost_hits, 0);
	core_insert(page, core_mm(0), VM_IN_FAULT, slot);
	EXPECT(clockpro_data(page)->hot);
	EXPECT_EQ(nr_ghost_hits, 1);
	EXPECT_EQ(ghosts.nr, 0);
	core_stop();
}
