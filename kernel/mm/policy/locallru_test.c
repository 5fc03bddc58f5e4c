/* Local LRU: the order of pages, of several processes. Quotas are tested by localfifo_test.c. */
#include "locallru.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define MS 1000000ull

static void fault_in(struct mm_struct *mm, u32 first, u32 n)
{
	for (u32 i = first; i < first + n; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
}

static u32 evict(void)
{
	struct page *page = core_reclaim(ZONES_ALL);

	core_drop_isolated(page);
	return page - mem_map;
}

/* Page 2 is used in the first interval, page 1 in the second, page 0 after it. */
KTEST(locallru, evicts_in_the_order_of_the_last_use)
{
	static const u32 order[] = { 3, 2, 1, 0 };
	struct mm_struct *mm;

	core_start(&locallru, 8);
	mm = core_mm_new();
	fault_in(mm, 0, 4);
	for (u32 page = 2; page > 0; page--) {
		mm->vtime_ns += sample_ms * MS;
		page_set(&mem_map[page], PG_young);
		locallru_tick();
	}
	page_set(&mem_map[0], PG_young);
	for (u32 i = 0; i < 4; i++)
		EXPECT_EQ(evict(), order[i]);
	EXPECT_EQ(nr_spared, 1);
	core_stop();
}

KTEST(locallru, looks_at_a_process_only_when_it_has_run)
{
	struct mm_struct *runs, *waits;

	core_start(&locallru, 8);
	runs = core_mm_new();
	waits = core_mm_new();
	fault_in(runs, 0, 2);
	fault_in(waits, 2, 2);
	for (u32 i = 0; i < 4; i++)
		page_set(&mem_map[i], PG_young);
	runs->vtime_ns += sample_ms * MS;
	locallru_tick();
	EXPECT_EQ(nr_looked, 2);
	EXPECT(!page_test(&mem_map[0], PG_young) && page_test(&mem_map[2], PG_young));
	runs->vtime_ns += sample_ms * MS - 1;
	locallru_tick();
	EXPECT_EQ(nr_looked, 2);
	core_stop();
}

/* A use that the core reports is the last one; DONTNEED makes a page the next victim. */
KTEST(locallru, reported_uses_count_at_once)
{
	static const u32 order[] = { 2, 1, 3, 0 };
	struct mm_struct *mm;

	core_start(&locallru, 8);
	mm = core_mm_new();
	fault_in(mm, 0, 4);
	core_touch(&mem_map[0], VM_TOUCH_MINOR);
	page_set(&mem_map[2], PG_young);
	core_touch(&mem_map[2], VM_TOUCH_DONTNEED);
	for (u32 i = 0; i < 4; i++)
		EXPECT_EQ(evict(), order[i]);
	core_stop();
}
