/* Aging: each page is in one of the rows that it shows. */
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
