/* Aging: the output counts each page in exactly one row, and every tick looks at each page. */
#include "aging.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

KTEST(aging, rows_count_each_page_once)
{
	struct mm_struct *mm;

	core_start(&aging, 8);
	mm = core_mm_new();
	for (u32 i = 0; i < 5; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	EXPECT_EQ(count(0, MAX_COUNTER), 5);
	EXPECT_EQ(count(0, 0) + count(1, USED - 1) + count(USED, MAX_COUNTER), 5);
	EXPECT_EQ(count(0, USED), 5);
	core_stop();
}

/* The round number wraps after 256. */
KTEST(aging, no_tick_leaves_a_page_out)
{
	core_start(&aging, 8);
	core_insert(&mem_map[0], core_mm_new(), VM_IN_FAULT, (struct page_id){ 0 });
	for (u32 i = 0; i < 2 * 256; i++) {
		page_set(&mem_map[0], PG_young);
		aging_tick();
		EXPECT(!page_test(&mem_map[0], PG_young));
	}
	core_stop();
}
