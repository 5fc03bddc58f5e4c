/* mc63: whose accessed bits the pressure clears, when, and how many in a call. */
#include "mc63.c"

#include "../../lib/seq_file.c"
#include "../policy/clock.c"
#include "host/fake_core.h"

#define NR 3
#define FRAMES 100

/* Starts three processes with 20, 50 and 30 pages, in consecutive frames, all used. */
static void start(void)
{
	static const u32 rss[NR] = { 20, 50, 30 };

	core_start(&clock, FRAMES);
	for (u32 i = 0, pfn = 0; i < NR; i++) {
		struct mm_struct *mm = core_mm_new();

		for (u32 end = pfn + rss[i]; pfn < end; pfn++) {
			core_insert(&mem_map[pfn], mm, VM_IN_FAULT, (struct page_id){ 0 });
			page_set(&mem_map[pfn], PG_young);
		}
	}
	pagegrab = 256;
	only_min = 0;
	kind = MC_FILE | MC_ANON;
}

static u32 nr_young(u32 from, u32 to)
{
	u32 n = 0;

	for (u32 pfn = from; pfn < to; pfn++)
		n += page_test(&mem_map[pfn], PG_young);
	return n;
}

KTEST(mc63, takes_the_bits_of_the_largest_and_of_nobody_else)
{
	start();
	mc63.pressure(false);
	EXPECT_EQ(nr_young(0, 20), 20);
	EXPECT_EQ(nr_young(20, 70), 0);
	EXPECT_EQ(nr_young(70, 100), 30);
	core_stop();
}

KTEST(mc63, so_many_in_a_call_and_goes_on_there)
{
	start();
	pagegrab = 16;
	for (u32 left = 50; left >= 16; left -= 16) {
		EXPECT_EQ(nr_young(20, 70), left);
		mc63.pressure(false);
	}
	EXPECT_EQ(nr_young(20, 70), 2);
	mc63.pressure(false);
	EXPECT_EQ(nr_young(20, 70), 0);
	page_set(&mem_map[20], PG_young);
	mc63.pressure(false);
	EXPECT_EQ(nr_young(20, 70), 0);
	EXPECT_EQ(nr_young(0, 100), 50);
	core_stop();
}

/* Ten pages of the largest process are of files, marked here with PG_slab: two calls of five each. */
KTEST(mc63, pages_of_the_kind_it_is_told)
{
	start();
	for (u32 pfn = 40; pfn < 50; pfn++)
		page_set(&mem_map[pfn], PG_slab);
	kind = MC_FILE;
	pagegrab = 5;
	mc63.pressure(false);
	EXPECT_EQ(nr_young(40, 50), 5);
	mc63.pressure(false);
	EXPECT_EQ(nr_young(40, 50), 0);
	EXPECT_EQ(nr_young(0, 100), 90);
	kind = MC_ANON;
	pagegrab = 256;
	page_set(&mem_map[40], PG_young);
	mc63.pressure(false);
	mc63.pressure(false);
	EXPECT_EQ(nr_young(20, 70), 1);
	for (u32 pfn = 40; pfn < 50; pfn++)
		page_clear(&mem_map[pfn], PG_slab);
	core_stop();
}

KTEST(mc63, only_at_min_when_told_so)
{
	start();
	only_min = 1;
	mc63.pressure(false);
	EXPECT_EQ(nr_young(0, 100), 100);
	mc63.pressure(true);
	EXPECT_EQ(nr_young(0, 100), 50);
	core_stop();
}

KTEST(mc63, nobody_is_pressed_when_there_is_nobody)
{
	core_start(&clock, FRAMES);
	mc63.pressure(true);
	core_stop();
}
