/* Linux 2.0 with more than one process; tests/kernel/models has a model for one. */
#include "linux20.c"

#include "../../lib/rbtree.c"
#include "../../lib/rbtree_check.c"
#include "../../lib/seq_file.c"
#include "host/fake_core.h"

KTEST(linux20, page_that_moves_keeps_its_age_and_is_walked_by_its_new_owner)
{
	struct mm_struct *first, *second;
	struct page *page;

	core_start(&linux20, 8);
	first = core_mm_new();
	second = core_mm_new();
	page = &mem_map[1];
	core_insert(page, first, VM_IN_FAULT, (struct page_id){ 0 });
	linux20_data(page)->age = 17;
	core_touch(page, VM_TOUCH_MINOR);
	policy_call_moved(page, second);
	EXPECT(linux20_mm(first)->nr == 0 && linux20_mm(second)->nr == 1);
	EXPECT(linux20_data(page)->age == 17 && linux20_data(page)->used);
	policy_call_moved(page, NULL);
	EXPECT(linux20_mm(second)->nr == 0 && nr_cached == 1 && linux20_data(page)->age == 17);
	core_mm_end(second, NULL);
	core_expect_count();
	core_stop();
}
