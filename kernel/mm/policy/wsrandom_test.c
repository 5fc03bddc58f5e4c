/* Working sets with random victims: which pages are outside, and when the sets have to give one. */
#include "wsrandom.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

enum { FRAMES = 90 };

static const struct page_id none;

static void begin(void)
{
	tau_ms = 200;
	seed = 1;
	core_now_ns = 0;
	core_start(&wsrandom, FRAMES);
}

static void fault_in(struct mm_struct *mm, u32 first, u32 n)
{
	for (u32 i = first; i < first + n; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, none);
}

/* mm uses these pages, and ms pass for mm and for the machine; then a tick comes. */
static void run(struct mm_struct *mm, u32 first, u32 n, u32 ms)
{
	mm->vtime_ns += ms * 1000000ull;
	core_now_ns += ms * 1000000ull;
	for (u32 i = first; i < first + n; i++)
		if (page_test(&mem_map[i], PG_owned))
			page_set(&mem_map[i], PG_young);
	EXPECT(!wsrandom_tick());
}

KTEST(wsrandom, pages_leave_the_set_tau_after_their_use)
{
	struct mm_struct *mm;

	begin();
	mm = core_mm_new();
	fault_in(mm, 0, 10);
	for (u32 i = 0; i < 4; i++)
		run(mm, 0, 4, 50);
	EXPECT_EQ(outside.nr, 0);
	run(mm, 0, 4, 50);
	EXPECT_EQ(outside.nr, 6);
	EXPECT_EQ(inside.nr, 4);
	run(mm, 4, 1, 50);
	EXPECT_EQ(outside.nr, 5);
	core_expect_count();
	core_stop();
}

KTEST(wsrandom, age_is_the_process_own_time)
{
	struct mm_struct *a, *b;

	begin();
	a = core_mm_new();
	b = core_mm_new();
	fault_in(a, 0, 10);
	fault_in(b, 10, 10);
	for (u32 i = 0; i < 10; i++)
		run(a, 0, 0, 50);
	EXPECT_EQ(outside.nr, 10);
	for (u32 i = 0; i < 10; i++) {
		struct page *page = core_reclaim(ZONES_ALL);

		EXPECT(page < &mem_map[10]);
		core_drop_isolated(page);
	}
	EXPECT_EQ(nr_from_sets, 0);
	EXPECT(core_reclaim(ZONES_ALL) >= &mem_map[10]);
	EXPECT_EQ(nr_from_sets, 1);
	for (u32 i = 10; i < 20; i++)
		if (page_test(&mem_map[i], PG_isolated))
			core_drop_isolated(&mem_map[i]);
	core_stop();
}

KTEST(wsrandom, page_used_since_the_look_is_drawn_but_stays)
{
	struct page *page = NULL;
	struct mm_struct *mm;
	struct vm_scan scan;

	begin();
	mm = core_mm_new();
	fault_in(mm, 0, FRAMES);
	for (u32 i = 0; i < 6; i++)
		run(mm, 0, 0, 50);
	EXPECT_EQ(outside.nr, FRAMES);
	for (u32 i = 0; i < FRAMES; i++)
		if (i != 77)
			page_set(&mem_map[i], PG_young);
	scan = policy_scan(ZONES_ALL, 1);
	for (u32 i = 0; !page && i < FRAMES; i++)
		page = core_select(&scan);
	EXPECT_EQ(page, &mem_map[77]);
	EXPECT_EQ(nr_came_back, inside.nr);
	core_drop_isolated(page);
	EXPECT_EQ(nr_from_sets, 0);
	core_expect_count();
	core_stop();
}

KTEST(wsrandom, unowned_pages_age_by_machine_time)
{
	struct mm_struct *mm;

	begin();
	mm = core_mm_new();
	fault_in(mm, 0, 10);
	core_insert(&mem_map[50], NULL, VM_IN_PREFETCH, none);
	for (u32 i = 0; i < 5; i++) {
		core_now_ns += 50000000;
		wsrandom_tick();
	}
	EXPECT_EQ(outside.nr, 1);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[50]);
	core_drop_isolated(&mem_map[50]);
	core_stop();
}

/* Of 60 pages outside, one is drawn 6,000 times. */
KTEST(wsrandom, pages_outside_are_equally_likely)
{
	u32 times[60] = { 0 }, fewest = ~0u, most = 0;
	struct mm_struct *mm;

	begin();
	mm = core_mm_new();
	fault_in(mm, 0, 60);
	for (u32 i = 0; i < 6000; i++) {
		struct page *page;

		while (outside.nr < 60)
			run(mm, 0, 0, 50);
		page = core_reclaim(ZONES_ALL);
		times[page - mem_map]++;
		core_putback(page, VM_PUT_DONE);
	}
	for (u32 i = 0; i < 60; i++) {
		fewest = MIN(fewest, times[i]);
		most = MAX(most, times[i]);
	}
	EXPECT(fewest > 60 && most < 140); /* 100 each, standard deviation 10 */
	core_stop();
}
