/* The working set: tau, strict and lazy release, overflow, admission, patience. */
#include "ws.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#include "ws_test.h"

enum { FRAMES = 100 };

static struct page *trim(struct mm_struct *mm)
{
	struct vm_scan scan = policy_trim_scan(mm, 1, FRAMES);

	return core_select(&scan);
}

static void defaults(void)
{
	tau_ms = 200;
	patience_ms = 10000;
	strict = 1;
	core_now_ns = 1000000000;
	core_start(&ws, FRAMES);
	core_frames = FRAMES - 10;
}

KTEST(ws, pages_older_than_tau_are_surplus)
{
	struct mm_struct *mm;

	defaults();
	mm = core_mm_new();
	fault_in(mm, 0, 10);
	for (u32 i = 0; i < 3; i++)
		run(mm, 0, 4, 50);
	EXPECT_EQ(ws_surplus(mm), 0);
	EXPECT_EQ(ws_mm(mm)->size, 10);
	run(mm, 0, 4, 60);
	EXPECT_EQ(ws_surplus(mm), 6);
	EXPECT_EQ(ws_mm(mm)->size, 4);
	for (u32 i = 4; i < 10; i++) {
		EXPECT_EQ(trim(mm), &mem_map[i]);
		core_drop_isolated(&mem_map[i]);
	}
	EXPECT(!trim(mm));
	EXPECT_EQ(ws_surplus(mm), 0);
	core_stop();
}

KTEST(ws, age_is_the_process_own_time)
{
	struct mm_struct *mm;

	defaults();
	mm = core_mm_new();
	fault_in(mm, 0, 10);
	core_now_ns += 5000000000ull;
	EXPECT(!ws_tick());
	EXPECT_EQ(ws_surplus(mm), 0);
	EXPECT(!trim(mm));
	core_stop();
}

KTEST(ws, lazy_release_waits_until_a_frame_is_needed)
{
	struct mm_struct *mm;

	defaults();
	strict = 0;
	mm = core_mm_new();
	fault_in(mm, 0, 10);
	run(mm, 0, 4, 300);
	EXPECT_EQ(ws_surplus(mm), 0);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[4]);
	core_drop_isolated(&mem_map[4]);
	core_stop();
}

KTEST(ws, old_pages_go_before_anybody_is_stopped)
{
	struct mm_struct *a, *b;

	defaults();
	a = core_mm_new();
	b = core_mm_new();
	fault_in(a, 0, 50);
	fault_in(b, 50, 50);
	run(b, 50, 20, 300);
	for (u32 i = 70; i < 100; i++) {
		EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[i]);
		core_drop_isolated(&mem_map[i]);
	}
	EXPECT(ws_may_run(a) && ws_may_run(b));
	core_stop();
}

KTEST(ws, overflow_stops_who_did_not_run)
{
	struct mm_struct *a, *b;
	struct page *page;

	defaults();
	a = core_mm_new();
	b = core_mm_new();
	fault_in(a, 0, 50);
	fault_in(b, 50, 50);
	run(b, 50, 50, 10);
	run(a, 0, 50, 10);
	page = core_reclaim(ZONES_ALL);
	EXPECT(page >= &mem_map[50]);
	core_drop_isolated(page);
	EXPECT(ws_may_run(a));
	EXPECT(!ws_may_run(b));
	core_stop();
}

KTEST(ws, overflow_stops_who_was_activated_last)
{
	struct mm_struct *mm[3];
	struct page *page;

	defaults();
	for (u32 i = 0; i < 3; i++) {
		core_now_ns += 1000000;
		mm[i] = core_mm_new();
		fault_in(mm[i], 33 * i, 33);
	}
	for (u32 i = 0; i < 3; i++)
		mm[i]->vtime_ns += 1000000;
	run(mm[0], 0, 99, 10);
	page = core_reclaim(ZONES_ALL);
	EXPECT(page >= &mem_map[66] && page < &mem_map[99]);
	core_drop_isolated(page);
	EXPECT(ws_may_run(mm[0]) && ws_may_run(mm[1]) && !ws_may_run(mm[2]));
	core_stop();
}

/* Starts processes a and b, which together exceed memory; b has been stopped, and all its pages
 * evicted. */
static void stop_b(struct mm_struct **a, struct mm_struct **b)
{
	defaults();
	*a = core_mm_new();
	*b = core_mm_new();
	fault_in(*a, 0, 60);
	fault_in(*b, 60, 40);
	run(*b, 60, 40, 10);
	run(*a, 0, 60, 10);
	core_frames = 80;
	for (u32 i = 0; i < 40; i++)
		core_drop_isolated(core_reclaim(ZONES_ALL));
	EXPECT(!ws_may_run(*b));
}

KTEST(ws, waiting_process_starts_when_its_claim_fits)
{
	struct mm_struct *a, *b;

	stop_b(&a, &b);
	run(a, 0, 60, 100);
	EXPECT(!ws_may_run(b));
	run(a, 0, 30, 300);
	EXPECT_EQ(ws_mm(a)->size, 30);
	EXPECT(ws_may_run(b));
	EXPECT(ws_may_run(a));
	core_stop();
}

KTEST(ws, waiting_process_starts_when_the_other_ends)
{
	struct mm_struct *a, *b;

	stop_b(&a, &b);
	core_mm_end(a, NULL);
	EXPECT(ws_may_run(b));
	core_stop();
}

KTEST(ws, claim_stays_until_the_pages_are_back)
{
	struct mm_struct *a, *b;

	stop_b(&a, &b);
	EXPECT_EQ(ws_mm(b)->claim, 40);
	core_mm_end(a, NULL);
	EXPECT(ws_may_run(b));
	fault_in(b, 0, 5);
	run(b, 0, 5, 50);
	EXPECT_EQ(ws_mm(b)->size, 5);
	EXPECT_EQ(ws_mm(b)->claim, 40);
	run(b, 0, 5, 200);
	EXPECT_EQ(ws_mm(b)->claim, 5);
	core_stop();
}

KTEST(ws, patience_ends_the_wait)
{
	struct mm_struct *a, *b;
	u32 ms;

	stop_b(&a, &b);
	for (ms = 0; ms < 20000 && ws_mm(b)->waiting; ms += 50)
		run(a, 0, 60, 50);
	EXPECT(ms >= 10000 && ms <= 10200);
	EXPECT(ws_may_run(b));
	EXPECT(!ws_may_run(a));
	core_stop();
}

KTEST(ws, one_alone_always_runs)
{
	struct mm_struct *mm;
	struct page *page;

	defaults();
	mm = core_mm_new();
	fault_in(mm, 0, FRAMES);
	for (u32 i = 0; i < 3 * FRAMES; i++) {
		run(mm, 0, FRAMES, 1);
		EXPECT(ws_may_run(mm));
		page = core_reclaim(ZONES_ALL);
		EXPECT_EQ(page, &mem_map[i % FRAMES]);
		core_drop_isolated(page);
		core_insert(page, mm, VM_IN_FAULT, none);
	}
	core_stop();
}

KTEST(ws, read_ahead_pages_go_before_anybody_is_stopped)
{
	struct mm_struct *a, *b;

	defaults();
	a = core_mm_new();
	b = core_mm_new();
	fault_in(a, 0, 10);
	fault_in(b, 10, 10);
	core_insert(&mem_map[50], NULL, VM_IN_PREFETCH, none);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[50]);
	core_drop_isolated(&mem_map[50]);
	EXPECT(ws_may_run(a) && ws_may_run(b));
	core_stop();
}
