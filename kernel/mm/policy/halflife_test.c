/* Half-life: what is surplus, on which clock, and the oldest page when memory is short. */
#include "halflife.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

enum { FRAMES = 20, LIMIT_MS = 300 };

static const struct page_id none;

static void begin(void)
{
	half_life_ms = 100;
	multiple = LIMIT_MS / 100;
	core_start(&halflife, FRAMES);
}

static void fault_in(struct mm_struct *mm, u32 first, u32 n)
{
	for (u32 i = first; i < first + n; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, none);
}

static void compute(struct mm_struct *mm, u32 ms)
{
	mm->vtime_ns += ms * 1000000ull;
}

static struct page *trim(struct mm_struct *mm)
{
	struct vm_scan scan = policy_trim_scan(mm, 1, FRAMES);

	return core_select(&scan);
}

KTEST(halflife, pages_are_surplus_after_some_half_lives_used_or_not)
{
	struct mm_struct *mm;

	begin();
	mm = core_mm_new();
	fault_in(mm, 0, 3);
	compute(mm, 1);
	fault_in(mm, 3, 4);
	compute(mm, LIMIT_MS - 1);
	EXPECT_EQ(halflife_surplus(mm), 0);
	EXPECT(!trim(mm));
	page_set(&mem_map[0], PG_young);
	compute(mm, 1);
	EXPECT_EQ(halflife_surplus(mm), 3);
	for (u32 i = 0; i < 3; i++) {
		EXPECT_EQ(trim(mm), &mem_map[i]);
		core_drop_isolated(&mem_map[i]);
	}
	EXPECT(!trim(mm));
	compute(mm, 1);
	EXPECT_EQ(halflife_surplus(mm), 4);
	core_stop();
}

KTEST(halflife, a_process_that_does_not_compute_keeps_its_pages)
{
	struct mm_struct *a, *b;

	begin();
	a = core_mm_new();
	b = core_mm_new();
	fault_in(a, 0, 3);
	fault_in(b, 3, 3);
	core_now_ns += 1000000000ull * LIMIT_MS;
	compute(b, LIMIT_MS + 1);
	EXPECT_EQ(halflife_surplus(a), 0);
	EXPECT_EQ(halflife_surplus(b), 3);
	core_stop();
}

KTEST(halflife, oldest_page_of_all_goes_when_memory_is_short)
{
	struct mm_struct *a, *b;

	begin();
	a = core_mm_new();
	b = core_mm_new();
	fault_in(a, 0, 1);
	core_insert(&mem_map[1], NULL, VM_IN_READ, none);
	fault_in(b, 2, 1);
	compute(b, LIMIT_MS + 1);
	for (u32 i = 0; i < 3; i++) {
		page_set(&mem_map[i], PG_young);
		EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[i]);
	}
	core_putback(&mem_map[2], VM_PUT_USED); /* enters again */
	EXPECT_EQ(halflife_surplus(b), 0);
	core_drop_isolated(&mem_map[0]);
	core_drop_isolated(&mem_map[1]);
	core_stop();
}

KTEST(halflife, page_that_changes_hands_is_new_there_and_keeps_its_place)
{
	struct mm_struct *a, *b;

	begin();
	a = core_mm_new();
	b = core_mm_new();
	fault_in(a, 0, 1);
	fault_in(b, 1, 1);
	compute(a, LIMIT_MS);
	compute(b, LIMIT_MS);
	policy_call_moved(&mem_map[0], b);
	compute(b, 1);
	EXPECT_EQ(halflife_surplus(a), 0);
	EXPECT_EQ(halflife_surplus(b), 1);
	EXPECT_EQ(trim(b), &mem_map[1]);
	core_drop_isolated(&mem_map[1]);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[0]);
	core_drop_isolated(&mem_map[0]);
	core_stop();
}
