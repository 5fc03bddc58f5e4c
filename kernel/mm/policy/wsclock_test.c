/* WSClock with more than one process; reference by reference it is compared with a model. */
#include "wsclock.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define MS 1000000ull

static void insert_all(u32 first, u32 n, struct mm_struct *mm)
{
	for (u32 i = first; i < first + n; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
}

/* The machine's time makes nothing old: only who runs loses pages. */
KTEST(wsclock, process_that_stands_still_keeps_its_pages)
{
	struct mm_struct *still, *runs;
	struct page *page;

	core_start(&wsclock, 6);
	still = core_mm_new();
	runs = core_mm_new();
	insert_all(0, 3, still);
	insert_all(3, 3, runs);
	core_now_ns += 5 * tau_ms * MS;
	runs->vtime_ns += 2 * tau_ms * MS;
	page_set(&mem_map[3], PG_young);
	page = core_reclaim(ZONES_ALL);
	EXPECT_EQ(page, &mem_map[4]);
	core_drop_isolated(page);
	core_stop();
}

/* A dirty old page is given to be written, and stays; the next one is asked for at once. */
KTEST(wsclock, dirty_old_pages_are_laundered)
{
	struct mm_struct *mm;
	struct vm_scan scan;

	core_start(&wsclock, 3);
	mm = core_mm_new();
	insert_all(0, 3, mm);
	page_set(&mem_map[0], PG_dirty);
	mm->vtime_ns += 2 * tau_ms * MS;
	scan = policy_scan(ZONES_ALL, 12);
	EXPECT_EQ(core_select(&scan), &mem_map[0]);
	EXPECT_EQ(scan.act, VM_LAUNDER);
	EXPECT_EQ(core_select(&scan), &mem_map[1]);
	EXPECT_EQ(scan.act, VM_EVICT);
	core_drop_isolated(&mem_map[1]);
	page_clear(&mem_map[0], PG_dirty);
	core_putback(&mem_map[0], VM_PUT_DONE);
	EXPECT_EQ(core_select(&scan), &mem_map[2]);
	EXPECT_EQ(core_select(&scan), &mem_map[0]);
	EXPECT_EQ(scan.act, VM_EVICT);
	core_drop_isolated(&mem_map[2]);
	core_drop_isolated(&mem_map[0]);
	core_stop();
}
