/* CAR: a scan that may take only some of the pages. */
#include "car.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define NR 12

/* Fills both clocks: pages that were read again while they had a ghost are in the second. */
static void start(void)
{
	struct page_id slot = { 1, 1 };

	core_start(&car, NR);
	core_mm_new();
	for (u32 i = 0; i < NR; i++)
		core_insert(&mem_map[i], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
	for (; slot.index < 4; slot.index++) {
		struct page *page = core_reclaim(ZONES_ALL);

		core_evicted(page, slot);
		core_insert(page, core_mm(0), VM_IN_FAULT, slot);
	}
}

KTEST(car, only_page_that_a_scan_may_have_is_found_in_one_round)
{
	for (u32 only = 0; only < NR; only++) {
		struct vm_scan scan;

		start();
		for (u32 i = 0; i < NR; i++)
			if (i != only)
				page_set(&mem_map[i], PG_locked);
		scan = policy_scan(ZONES_ALL, DEF_PRIORITY);
		EXPECT_EQ(core_select(&scan), &mem_map[only]);
		if (page_test(&mem_map[only], PG_isolated))
			core_drop_isolated(&mem_map[only]);
		core_stop();
	}
}
