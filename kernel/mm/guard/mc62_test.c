/*
 * mc62: whose dirty pages are pushed (the largest, and the largest before it in the list).
 */
#include "mc62.c"

#include "../../lib/seq_file.c"
#include "../policy/2q.c"
#include "host/fake_core.h"

#define NR 3

/* Starts processes with 20, 50 and 30 pages, in consecutive frames, all active, every second
 * dirty. */
static void start(u32 nr)
{
	static const u32 rss[NR] = { 20, 50, 30 };

	core_start(&twoq, 100);
	for (u32 i = 0, pfn = 0; i < nr; i++) {
		struct mm_struct *mm = core_mm_new();

		for (u32 end = pfn + rss[i]; pfn < end; pfn++) {
			core_insert(&mem_map[pfn], mm, VM_IN_FAULT, (struct page_id){ 0 });
			if (pfn % 2)
				page_set(&mem_map[pfn], PG_dirty);
			page_set(&mem_map[pfn], PG_young);
		}
	}
	kind = MC_FILE | MC_ANON;
	nr_alone = nr_dirty = nr_written = 0;
}

static bool goes_first(u32 pfn)
{
	return twoq_data(&mem_map[pfn])->list == INACTIVE && !page_test(&mem_map[pfn], PG_young);
}

KTEST(mc62, dirty_pages_of_these_two_go_first_and_no_others)
{
	start(NR);
	mc62.pressure(false);
	for (u32 pfn = 0; pfn < 100; pfn++)
		EXPECT_EQ(goes_first(pfn), pfn < 70 && pfn % 2);
	EXPECT(nr_dirty == 35 && nr_written == 35 && !nr_alone);
	core_stop();
}

KTEST(mc62, who_is_alone_is_left_alone)
{
	start(1);
	mc62.pressure(true);
	for (u32 pfn = 0; pfn < 20; pfn++)
		EXPECT(!goes_first(pfn));
	EXPECT_EQ(nr_alone, 1);
	core_stop();
}
