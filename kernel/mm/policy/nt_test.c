/* Windows NT with more than one process; tests/kernel/models has a model for one. */
#include "nt.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

static void insert_all(u32 first, u32 n, struct mm_struct *mm)
{
	for (u32 i = first; i < first + n; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
}

/* Lets the manager take the pages that it wants from mm, and returns their number. */
static u32 trim_all(struct mm_struct *mm)
{
	struct vm_scan scan = policy_trim_scan(mm, nt_surplus(mm), 200);
	struct page *page;
	u32 n = 0;

	for (; (page = core_select(&scan)); n++) {
		EXPECT_EQ(scan.act, VM_DETACH);
		core_putback(page, VM_PUT_DONE);
		EXPECT_EQ(nt_data(page)->place, STANDBY);
	}
	core_expect_count();
	return n;
}

/* No set is limited while memory is available: this is the difference from vms.c. */
KTEST(nt, set_grows_past_its_maximum_until_memory_is_low)
{
	struct mm_struct *mm;

	core_start(&nt, 200);
	mm = core_mm_new();
	insert_all(0, 190, mm);
	EXPECT_EQ(nt_mm(mm)->nr, 190);
	insert_all(190, 10, mm);
	EXPECT_EQ(nt_mm(mm)->nr, 191); /* 5 % is low: then a page leaves for each one that comes */
	EXPECT_EQ(nr_standby, 9);
	core_stop();
}

/* The process below its maximum grows; the one above it pays for its own faults. */
KTEST(nt, replacement_is_local)
{
	struct mm_struct *large, *small;

	core_start(&nt, 200);
	large = core_mm_new();
	small = core_mm_new();
	insert_all(0, 191, large);
	insert_all(191, 5, small);
	EXPECT_EQ(nt_mm(large)->nr, 191);
	EXPECT_EQ(nt_mm(small)->nr, 5);
	page_set(&mem_map[0], PG_young);
	insert_all(196, 1, large);
	EXPECT_EQ(nt_mm(large)->nr, 191);
	EXPECT_EQ(nt_data(&mem_map[0])->place, SET); /* used, so passed */
	EXPECT_EQ(nt_data(&mem_map[1])->place, STANDBY);
	EXPECT_EQ(nt_mm(small)->nr, 5);
	core_stop();
}

KTEST(nt, process_without_faults_is_trimmed_first)
{
	struct mm_struct *idle, *busy;

	core_start(&nt, 200);
	idle = core_mm_new();
	busy = core_mm_new();
	insert_all(0, 40, idle);
	for (int i = 0; i < 10; i++) /* the rate becomes 0 */
		nt_tick();
	insert_all(40, 155, busy);
	nt_tick();
	EXPECT_EQ(nt_surplus(idle), 11); /* of 200 frames 9 are available, 20 shall be */
	EXPECT_EQ(nt_surplus(busy), 0);
	page_set(&mem_map[0], PG_young);
	EXPECT_EQ(trim_all(idle), 11);
	EXPECT_EQ(nt_data(&mem_map[0])->place, SET);
	EXPECT_EQ(available(), 20);
	nt_tick();
	EXPECT_EQ(nt_surplus(idle), 0);
	core_stop();
}

KTEST(nt, trimming_spares_the_minimum_and_used_pages)
{
	struct mm_struct *mm[8];

	core_start(&nt, 200);
	for (u32 i = 0; i < 8; i++) {
		mm[i] = core_mm_new();
		insert_all(25 * i, 25, mm[i]);
	}
	for (int i = 0; i < 10; i++)
		nt_tick();
	EXPECT_EQ(nt_surplus(mm[0]), 5);
	EXPECT_EQ(nt_surplus(mm[4]), 0);
	for (u32 i = 0; i < 25; i++)
		page_set(&mem_map[i], PG_young);
	EXPECT_EQ(trim_all(mm[0]), 0);
	EXPECT_EQ(trim_all(mm[1]), 5);
	EXPECT_EQ(nt_mm(mm[1])->nr, min_pages);
	core_stop();
}

KTEST(nt, maximum_grows_for_a_process_that_faults_while_memory_is_plentiful)
{
	struct mm_struct *mm;

	core_start(&nt, 200);
	mm = core_mm_new();
	EXPECT_EQ(nt_mm(mm)->max, max_pages);
	insert_all(0, 100, mm);
	nt_tick();
	EXPECT_EQ(nt_mm(mm)->max, 57);
	nt_tick(); /* no faults in this period */
	EXPECT_EQ(nt_mm(mm)->max, 57);
	core_stop();
}

KTEST(nt, soft_fault_rescues_and_counts)
{
	struct mm_struct *mm;

	core_start(&nt, 200);
	mm = core_mm_new();
	insert_all(0, 200, mm);
	EXPECT_EQ(nt_data(&mem_map[0])->place, STANDBY);
	nt_mm(mm)->faults = 0;
	core_touch(&mem_map[0], VM_TOUCH_MINOR);
	EXPECT_EQ(nt_data(&mem_map[0])->place, SET);
	EXPECT_EQ(nt_mm(mm)->faults, 1);
	EXPECT_EQ(nr_rescued, 1);
	core_stop();
}

/* Both lists are empty: the process with the fewest faults gives the page, if it is above its minimum. */
KTEST(nt, without_standby_pages_the_first_to_be_trimmed_gives_one)
{
	struct mm_struct *small, *idle, *busy;

	core_start(&nt, 200);
	small = core_mm_new();
	idle = core_mm_new();
	busy = core_mm_new();
	insert_all(0, 10, small);
	insert_all(10, 44, idle);
	for (int i = 0; i < 10; i++)
		nt_tick();
	insert_all(54, 40, busy);
	page_set(&mem_map[10], PG_young);
	core_drop_isolated(core_reclaim(ZONES_ALL));
	EXPECT_EQ(nt_mm(small)->nr, 10);
	EXPECT_EQ(nt_mm(idle)->nr, 43);
	EXPECT(page_test(&mem_map[10], PG_owned) && !page_test(&mem_map[11], PG_owned));
	EXPECT_EQ(nr_at_once, 1);
	core_stop();
}

KTEST(nt, page_that_moves_joins_the_other_set_or_stays_on_its_list)
{
	struct mm_struct *first, *second;

	core_start(&nt, 200);
	first = core_mm_new();
	second = core_mm_new();
	insert_all(0, 200, first);
	policy_call_moved(&mem_map[0], second);
	EXPECT(nt_data(&mem_map[0])->place == STANDBY && nt_mm(second)->nr == 0);
	policy_call_moved(&mem_map[199], second);
	EXPECT(nt_data(&mem_map[199])->place == SET && nt_mm(second)->nr == 1);
	policy_call_moved(&mem_map[199], NULL);
	EXPECT(nt_data(&mem_map[199])->place == STANDBY && nt_mm(second)->nr == 0);
	core_expect_count();
	core_stop();
}
