/* mc64: of the largest process, referenced pages lose the flag, and others become inactive. */
#include "mc64.c"

#include "../../lib/seq_file.c"
#include "../policy/2q.c"
#include "host/fake_core.h"

#define EACH 20

static struct mm_struct *modest;

/* The demand of a process: the processes differ in it, not in resident pages. */
u32 mm_demand(struct mm_struct *mm)
{
	return mm == modest ? EACH : 3 * EACH;
}

/* Starts two processes with all pages active; every second page is referenced. */
static void start(void)
{
	core_start(&twoq, 2 * EACH);
	for (u32 pfn = 0; pfn < 2 * EACH; pfn++) {
		static struct mm_struct *mm;

		if (pfn % EACH == 0)
			mm = core_mm_new();
		if (!pfn)
			modest = mm;
		core_insert(&mem_map[pfn], mm, VM_IN_FAULT, (struct page_id){ 0 });
		page_set(&mem_map[pfn], PG_young);
		twoq_data(&mem_map[pfn])->referenced = pfn % 2;
	}
	pagegrab = MC_ALL;
	nr_looked = 0;
}

/* Frames from .. to have been looked at once. Their accessed bits stay. */
static void expect_pushed(u32 from, u32 to)
{
	for (u32 pfn = 0; pfn < 2 * EACH; pfn++) {
		bool looked_at = pfn >= from && pfn < to;

		EXPECT_EQ(twoq_data(&mem_map[pfn])->list == INACTIVE, looked_at && pfn % 2 == 0);
		EXPECT_EQ(twoq_data(&mem_map[pfn])->referenced, !looked_at && pfn % 2);
		EXPECT(page_test(&mem_map[pfn], PG_young));
	}
	EXPECT_EQ(nr_looked, to - from);
}

/* The page that was pushed last is at the head of the inactive list. */
KTEST(mc64, an_inactive_page_crosses_the_list)
{
	start();
	mc64.pressure(false);
	EXPECT_EQ(list_first_entry(&twoq_data(&mem_map[0])->lists->list[INACTIVE], struct twoq_page,
				   node),
		  twoq_data(&mem_map[2 * EACH - 2]));
	mc64.pressure(false);
	for (u32 pfn = EACH; pfn < 2 * EACH; pfn++)
		EXPECT_EQ(twoq_data(&mem_map[pfn])->list, INACTIVE);
	core_stop();
}

KTEST(mc64, what_was_not_used_goes_first)
{
	start();
	mc64.pressure(false);
	expect_pushed(EACH, 2 * EACH);
	core_stop();
}

KTEST(mc64, the_next_call_goes_on_where_one_stopped)
{
	start();
	pagegrab = 6;
	mc64.pressure(false);
	expect_pushed(EACH, EACH + 6);
	mc64.pressure(true);
	expect_pushed(EACH, EACH + 12);
	core_stop();
}
