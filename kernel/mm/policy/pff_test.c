/* PFF: which faults count, and which pages leave. For one process, see tests/kernel/models. */
#include "pff.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define MS 1000000ull

static struct mm_struct *begin(u32 nr_pages)
{
	struct mm_struct *mm;

	core_start(&pff, 16);
	mm = core_mm_new();
	for (u32 i = 0; i < nr_pages; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	return mm;
}

/* The first late fault removes no page, as all pages count as used when they are inserted. */
static void late_fault(struct page *page, struct mm_struct *mm)
{
	mm->vtime_ns += 2 * interval_ms * MS;
	core_insert(page, mm, VM_IN_FAULT, (struct page_id){ 0 });
	pff_tick();
}

KTEST(pff, late_fault_makes_unused_pages_leave)
{
	struct mm_struct *mm = begin(4), *other = core_mm_new();
	struct vm_scan scan;

	core_insert(&mem_map[10], other, VM_IN_FAULT, (struct page_id){ 0 });
	late_fault(&mem_map[4], mm);
	EXPECT_EQ(pff_surplus(mm), 0);
	page_set(&mem_map[2], PG_young);
	late_fault(&mem_map[5], mm);
	EXPECT_EQ(pff_surplus(mm), 4); /* pages 0, 1, 3 and 4 */
	EXPECT_EQ(pff_surplus(other), 0);
	page_set(&mem_map[1], PG_young); /* used in time */
	scan = policy_trim_scan(mm, 4, 6);
	EXPECT_EQ(core_select(&scan), &mem_map[0]);
	EXPECT_EQ(core_select(&scan), &mem_map[3]);
	EXPECT_EQ(pff_surplus(mm), 1);
	core_drop_isolated(&mem_map[0]);
	core_drop_isolated(&mem_map[3]);
	core_stop();
}

/* Page 0 is used before the early fault only, page 1 after it as well. */
KTEST(pff, late_fault_takes_what_was_not_used_since_the_fault_before)
{
	struct mm_struct *mm = begin(2);

	late_fault(&mem_map[2], mm);
	page_set(&mem_map[0], PG_young);
	page_set(&mem_map[1], PG_young);
	core_insert(&mem_map[3], mm, VM_IN_FAULT, (struct page_id){ 0 });
	pff_tick(); /* too soon after the fault: the bits stay */
	mm->vtime_ns += SETTLE_US * 1000ull;
	pff_tick();
	EXPECT_EQ(pff_surplus(mm), 0);
	page_set(&mem_map[1], PG_young);
	late_fault(&mem_map[4], mm);
	EXPECT_EQ(pff_surplus(mm), 3);
	EXPECT(!pff_data(&mem_map[1])->leaving && !pff_data(&mem_map[4])->leaving);
	core_stop();
}

KTEST(pff, fault_is_late_after_more_than_the_interval)
{
	struct mm_struct *mm = begin(1);

	mm->vtime_ns += interval_ms * MS;
	core_insert(&mem_map[1], mm, VM_IN_FAULT, (struct page_id){ 0 });
	EXPECT_EQ(nr_late, 0);
	mm->vtime_ns += interval_ms * MS + 1000;
	core_insert(&mem_map[2], mm, VM_IN_FAULT, (struct page_id){ 0 });
	EXPECT_EQ(nr_late, 1);
	core_stop();
}

KTEST(pff, early_fault_and_claim_make_nobody_shrink)
{
	struct mm_struct *mm = begin(4);

	late_fault(&mem_map[4], mm);
	core_insert(&mem_map[5], mm, VM_IN_FAULT, (struct page_id){ 0 });
	pff_tick();
	EXPECT_EQ(pff_surplus(mm), 0);
	mm->vtime_ns += 2 * interval_ms * MS;
	core_insert(&mem_map[6], mm, VM_IN_CLAIM, (struct page_id){ 0 });
	pff_tick();
	EXPECT_EQ(pff_surplus(mm), 0);
	core_stop();
}

KTEST(pff, counts_from_zero_when_it_is_switched_on_again)
{
	struct mm_struct *mm = begin(4);

	late_fault(&mem_map[4], mm);
	for (int i = 0; i < 5; i++)
		core_drop_isolated(core_reclaim(ZONES_ALL));
	EXPECT(nr_late && nr_clock);
	core_stop();
	begin(0);
	EXPECT(!nr_late && !nr_left && !nr_clock);
	core_stop();
}

/* Page 0 was used since the last fault; page 1 was not, and leaves. */
KTEST(pff, page_that_moves_keeps_its_uses_and_leaves_all_the_same)
{
	struct mm_struct *mm = begin(2), *heir = core_mm_new();

	late_fault(&mem_map[2], mm);
	page_set(&mem_map[0], PG_young);
	page_set(&mem_map[2], PG_young);
	late_fault(&mem_map[3], mm);
	EXPECT_EQ(pff_surplus(mm), 1);
	policy_call_moved(&mem_map[0], heir);
	policy_call_moved(&mem_map[1], heir);
	EXPECT(pff_surplus(mm) == 0 && pff_surplus(heir) == 1);
	EXPECT(pff_mm(mm)->nr == 2 && pff_mm(heir)->nr == 2);
	EXPECT(pff_data(&mem_map[0])->used_hand && pff_data(&mem_map[1])->leaving);
	core_expect_count();
	core_mm_end(mm, NULL);
	core_expect_count();
	core_stop();
}

KTEST(pff, page_that_was_to_leave_and_is_nobodys_now_is_the_next_under_the_hand)
{
	struct mm_struct *mm = begin(3);

	late_fault(&mem_map[3], mm);
	page_set(&mem_map[0], PG_young);
	page_set(&mem_map[2], PG_young);
	page_set(&mem_map[3], PG_young);
	late_fault(&mem_map[4], mm);
	EXPECT_EQ(pff_surplus(mm), 1);
	policy_call_moved(&mem_map[1], NULL);
	core_mm_end(mm, core_mm_new());
	EXPECT(nr_leaving == 0 &&
	       list_first_entry(&circle, struct pff_page, node) == pff_data(&mem_map[1]));
	core_expect_count();
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[1]);
	core_drop_isolated(&mem_map[1]);
	core_stop();
}
