/* VAX/VMS with more than one process; tests/kernel/models has a model for one. */
#include "vms.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

static void insert_all(u32 first, u32 n, struct mm_struct *mm)
{
	for (u32 i = first; i < first + n; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
}

/* One process alone may have the share of all sets; a second one takes up to half of it. */
KTEST(vms, sets_share_what_they_may_have)
{
	struct mm_struct *first, *second;
	u32 limit;

	core_start(&vms, 100);
	limit = share(resident_percent);
	first = core_mm_new();
	second = core_mm_new();
	insert_all(0, 80, first);
	EXPECT_EQ(vms_mm(first)->nr, limit);
	insert_all(80, 20, second);
	EXPECT_EQ(vms_mm(second)->nr, 20);
	EXPECT_EQ(nr_resident, limit);
	EXPECT_EQ(nr_free + nr_modified, 100 - limit);
	core_stop();
}

KTEST(vms, minor_fault_rescues_and_claim_joins)
{
	struct mm_struct *mm;

	core_start(&vms, 100);
	mm = core_mm_new();
	insert_all(0, 90, mm);
	EXPECT(vms_data(&mem_map[0])->place != RESIDENT);
	core_touch(&mem_map[0], VM_TOUCH_MINOR);
	EXPECT_EQ(vms_data(&mem_map[0])->place, RESIDENT);
	EXPECT_EQ(nr_rescued, 1);
	core_insert(&mem_map[90], NULL, VM_IN_PREFETCH, (struct page_id){ 1, 7 });
	EXPECT(vms_data(&mem_map[90])->place != RESIDENT);
	core_remove(&mem_map[90], VM_OUT_MOVED);
	core_insert(&mem_map[90], mm, VM_IN_CLAIM, (struct page_id){ 1, 7 });
	EXPECT_EQ(vms_data(&mem_map[90])->place, RESIDENT);
	core_stop();
}

/* A page that is used during its writeback does not fault; its accessed bit shows the use. */
KTEST(vms, laundered_page_that_was_used_goes_back_to_its_set)
{
	struct vm_scan scan;
	struct mm_struct *mm;

	core_start(&vms, 100);
	mm = core_mm_new();
	for (u32 i = 0; i < 100; i++)
		page_set(&mem_map[i], PG_dirty);
	insert_all(0, 100, mm);
	scan = policy_scan(ZONES_ALL, FIRST_PASS);
	EXPECT_EQ(core_select(&scan), &mem_map[0]);
	EXPECT_EQ(core_select(&scan), &mem_map[1]);
	EXPECT_EQ(scan.act, VM_LAUNDER);
	page_set(&mem_map[0], PG_young);
	page_clear(&mem_map[0], PG_dirty);
	page_clear(&mem_map[1], PG_dirty);
	core_putback(&mem_map[0], VM_PUT_DONE);
	core_putback(&mem_map[1], VM_PUT_DONE);
	EXPECT_EQ(vms_data(&mem_map[0])->place, RESIDENT);
	EXPECT_EQ(vms_data(&mem_map[1])->place, FREE);
	core_stop();
}

KTEST(vms, page_that_moves_joins_the_other_set_or_stays_on_its_list)
{
	struct mm_struct *first, *second;

	core_start(&vms, 100);
	first = core_mm_new();
	second = core_mm_new();
	insert_all(0, 90, first);
	EXPECT_EQ(vms_data(&mem_map[0])->place, FREE);
	policy_call_moved(&mem_map[0], second);
	EXPECT(vms_data(&mem_map[0])->place == FREE && vms_mm(second)->nr == 0);
	policy_call_moved(&mem_map[89], second);
	EXPECT(vms_data(&mem_map[89])->place == RESIDENT && vms_mm(second)->nr == 1);
	core_expect_count();
	policy_call_moved(&mem_map[89], NULL);
	EXPECT(vms_data(&mem_map[89])->place == FREE && vms_mm(second)->nr == 0);
	EXPECT_EQ(free_list.prev, &vms_data(&mem_map[89])->node);
	core_expect_count();
	policy_call_moved(&mem_map[89],
			  first); /* mapped without a fault, it could not be rescued */
	EXPECT_EQ(vms_data(&mem_map[89])->place, RESIDENT);
	core_expect_count();
	core_stop();
}
