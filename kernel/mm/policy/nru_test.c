/* NRU: a tick looks at all pages, some at each call. */
#include "nru.c"

#include "../../lib/rbtree.c"
#include "../../lib/rbtree_check.c"
#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define NR (PIECE + 10)

KTEST(nru, tick_is_called_again_until_all_uses_are_forgotten)
{
	u32 calls = 1;

	core_start(&nru, NR);
	core_mm_new();
	for (u32 i = 0; i < NR; i++) {
		core_insert(&mem_map[i], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
		nru_touch(&mem_map[i], core_mm(0), VM_TOUCH_MINOR);
		move(nru_data(&mem_map[i]), class_of(&mem_map[i]));
	}
	EXPECT_EQ(length[USED], NR);
	while (nru_tick() && calls < 100)
		calls++;
	EXPECT_EQ(length[0], NR);
	EXPECT_EQ(calls, NR_CLASSES + 1); /* one class has more pages than a call looks at */
	EXPECT_EQ(nr_ticks, 1);
	core_stop();
}

/* While insert runs, the bit of the access that faulted is set. The core clears it later. */
KTEST(nru, access_that_faulted_does_not_count_as_a_use)
{
	core_start(&nru, 3);
	core_mm_new();
	for (u32 i = 0; i < 3; i++) {
		page_set(&mem_map[i], PG_young);
		core_insert(&mem_map[i], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
		page_clear(&mem_map[i], PG_young);
	}
	page_set(&mem_map[0], PG_young);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[1]);
	core_drop_isolated(&mem_map[1]);
	core_stop();
}
