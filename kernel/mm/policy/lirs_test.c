/* LIRS: a page that its program no longer needs is evicted first, even if it was just used. */
#include "lirs.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

KTEST(lirs, takes_first_what_is_not_needed)
{
	struct mm_struct *mm;

	core_start(&lirs, 8);
	mm = core_mm_new();
	for (u32 i = 0; i < 6; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	page_set(&mem_map[4], PG_young);
	core_touch(&mem_map[4], VM_TOUCH_DONTNEED);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[4]);
	core_drop_isolated(&mem_map[4]);
	core_stop();
}
