/* The working set: pages used after all, read ahead or shared; many pages; no admission control. */
#include "ws.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#ifdef LOOKS /* a student's ws.c has no such lists */

#include "ws_test.h"

enum { FRAMES = 100, LARGE = 3 * LOOKS };

/* Expects that the next victim is page i. */
static void expect_goes(u32 i)
{
	struct page *page = core_reclaim(ZONES_ALL);

	EXPECT_EQ(page, &mem_map[i]);
	core_drop_isolated(page);
}

static void defaults(u32 frames)
{
	tau_ms = 200;
	patience_ms = 10000;
	strict = admit = 1;
	core_now_ns = 1000000000;
	core_start(&ws, frames);
	core_frames = frames - 10;
}

/* Without ticks ws evicts in order of insertion, and gives a page that was used a second chance. */
static u32 second_chance(u32 nr_frames, const u8 *refs, u32 n)
{
	u32 faults = 0, held = 0, queue[64];
	bool used[256] = { false };

	for (u32 i = 0; i < n; i++) {
		u32 at = 0;

		while (at < held && queue[at] != refs[i])
			at++;
		if (at < held) {
			used[refs[i]] = true;
			continue;
		}
		faults++;
		while (held == nr_frames) {
			u32 first = queue[0];

			for (u32 k = 1; k < held; k++)
				queue[k - 1] = queue[k];
			held -= !used[first];
			queue[nr_frames - 1] = first;
			used[first] = false;
		}
		queue[held++] = refs[i];
	}
	return faults;
}

KTEST(ws_lists, lone_process_larger_than_memory_gives_what_is_used_least)
{
	core_compare(&ws, second_chance);
}

KTEST(ws_lists, lone_process_keeps_a_little_read_ahead)
{
	struct mm_struct *mm;

	defaults(FRAMES);
	mm = core_mm_new();
	fault_in(mm, 0, 10);
	for (u32 i = 50; i < 50 + FRAMES / MANY; i++)
		core_insert(&mem_map[i], NULL, VM_IN_PREFETCH, none);
	expect_goes(50);
	expect_goes(0);
	core_stop();
}

KTEST(ws_lists, what_read_and_write_touch_again_stays_longer)
{
	defaults(FRAMES);
	core_mm_new();
	for (u32 i = 0; i < 50; i++)
		core_insert(&mem_map[i], NULL, VM_IN_READ, none);
	core_touch(&mem_map[0], VM_TOUCH_IO);
	expect_goes(1);
	core_stop();
}

KTEST(ws_lists, page_that_is_not_needed_leaves_at_once)
{
	struct mm_struct *mm;

	defaults(FRAMES);
	mm = core_mm_new();
	fault_in(mm, 0, 10);
	page_set(&mem_map[5], PG_young);
	core_touch(&mem_map[5], VM_TOUCH_DONTNEED);
	EXPECT_EQ(ws_surplus(mm), 1);
	expect_goes(5);
	core_stop();
}

/* Process a waits. Then another process uses the first 20 pages of a. */
static void share(struct mm_struct **b)
{
	struct mm_struct *a;

	defaults(FRAMES);
	a = core_mm_new();
	*b = core_mm_new();
	fault_in(a, 0, 50);
	fault_in(*b, 50, 50);
	run(a, 0, 50, 10);
	run(*b, 50, 50, 10);
	suspend(a);
	for (u32 i = 0; i < 20; i++)
		page_set(&mem_map[i], PG_young);
	for (u32 i = 20; i < 50; i++)
		expect_goes(i);
	EXPECT_EQ(shared.nr, 20);
}

KTEST(ws_lists, pages_that_another_uses_stay_when_their_owner_must_wait)
{
	struct mm_struct *b;

	share(&b);
	expect_goes(50);
	core_stop();
}

KTEST(ws_lists, shared_pages_go_when_nobody_uses_them)
{
	struct mm_struct *b;

	share(&b);
	page_set(&mem_map[0], PG_young);
	run(b, 50, 50, 250);
	expect_goes(1);
	core_stop();
}

KTEST(ws_lists, without_admission_nobody_waits)
{
	struct mm_struct *a, *b;

	defaults(FRAMES);
	admit = 0;
	a = core_mm_new();
	b = core_mm_new();
	fault_in(a, 0, 60);
	fault_in(b, 60, 40);
	run(b, 60, 40, 10);
	run(a, 0, 60, 10);
	expect_goes(0);
	EXPECT(ws_may_run(a) && ws_may_run(b));
	core_stop();
}

KTEST(ws_lists, admits_first_who_has_most_in_memory)
{
	struct mm_struct *mm[3];

	defaults(FRAMES);
	for (u32 i = 0; i < 3; i++) {
		mm[i] = core_mm_new();
		fault_in(mm[i], 20 * i, i == 1 ? 20 : 10);
		run(mm[i], 20 * i, 10, 1);
		ws_mm(mm[i])->claim = 50;
	}
	for (u32 i = 0; i < 3; i++)
		suspend(mm[i]);
	EXPECT(!ws_may_run(mm[0]) && !ws_may_run(mm[2]));
	EXPECT(ws_may_run(mm[1]));
	core_stop();
}

/* Starts a and b, which claim 20 pages each and had to wait. Now a loads. */
static void one_loads(struct mm_struct **a, struct mm_struct **b)
{
	defaults(FRAMES);
	*a = core_mm_new();
	*b = core_mm_new();
	ws_mm(*a)->claim = ws_mm(*b)->claim = 20;
	suspend(*a);
	suspend(*b);
	EXPECT(ws_may_run(*a) && !ws_may_run(*b));
}

KTEST(ws_lists, one_loads_at_a_time)
{
	struct mm_struct *a, *b;

	one_loads(&a, &b);
	fault_in(a, 0, 20);
	EXPECT(ws_may_run(b));
	core_stop();
}

KTEST(ws_lists, next_is_admitted_when_all_is_being_read_ahead)
{
	struct mm_struct *a, *b;

	one_loads(&a, &b);
	EXPECT(!ws_tick());
	EXPECT(!ws_mm(a)->unread);
	EXPECT(ws_may_run(b));
	core_stop();
}

KTEST(ws_lists, what_was_read_ahead_and_evicted_is_requested_again)
{
	const struct page_id swapped = { 1, 1 }; /* in the swap area */
	struct mm_struct *a, *b;

	one_loads(&a, &b);
	EXPECT(!ws_tick());
	EXPECT(!who_loads());
	core_insert(&mem_map[0], a, VM_IN_FAULT, none); /* a new page: nothing was evicted */
	EXPECT(!who_loads());
	core_insert(&mem_map[1], a, VM_IN_FAULT, swapped);
	EXPECT_EQ(who_loads(), a);
	EXPECT(!ws_tick());
	EXPECT(!who_loads());
	core_stop();
}

KTEST(ws_lists, more_than_one_request_reads_is_requested_again)
{
	struct mm_struct *a, *b;

	one_loads(&a, &b);
	defaults(2 * PREPAGE_MOST);
	ws_mm(a)->claim = PREPAGE_MOST + 1;
	EXPECT(!ws_tick());
	EXPECT(ws_mm(a)->unread == 1);
	EXPECT(!ws_may_run(b));
	EXPECT(!ws_tick());
	EXPECT(ws_may_run(b));
	core_stop();
}

KTEST(ws_lists, who_waits_makes_room_for_who_loads)
{
	struct mm_struct *a, *b;

	defaults(FRAMES);
	a = core_mm_new();
	b = core_mm_new();
	fault_in(b, 0, FRAMES - 2);
	suspend(b);
	ws_mm(a)->claim = 20;
	suspend(a);
	activate(a);
	EXPECT(!ws_tick());
	EXPECT_EQ(ws_surplus(b), 20 + vm_frames() / WORTH);
	EXPECT_EQ(ws_surplus(a), 0);
	for (u32 i = 0; i < 20 + vm_frames() / WORTH; i++) {
		struct vm_scan scan = policy_trim_scan(b, 1, FRAMES);
		struct page *page = core_select(&scan);

		EXPECT_EQ(page, &mem_map[i]);
		core_drop_isolated(page);
	}
	EXPECT_EQ(ws_surplus(b), 0);
	core_stop();
}

KTEST(ws_lists, young_process_claims_all_that_it_has_allocated)
{
	struct mm_struct *young, *old;

	defaults(FRAMES);
	young = core_mm_new();
	old = core_mm_new();
	young->demand = old->demand = 60;
	fault_in(young, 0, 10);
	fault_in(old, 10, 10);
	run(young, 0, 10, 100);
	run(old, 10, 10, 300);
	suspend(young);
	suspend(old);
	EXPECT_EQ(ws_mm(young)->claim, 60);
	EXPECT_EQ(ws_mm(old)->claim, 10);
	core_stop();
}

KTEST(ws_lists, claim_stays_while_a_process_that_ran_since_the_tick_waits)
{
	struct mm_struct *mm;

	defaults(FRAMES);
	mm = core_mm_new();
	fault_in(mm, 0, 20);
	run(mm, 0, 20, 300);
	mm->vtime_ns += 1000000;
	suspend(mm);
	for (u32 i = 0; i < 20; i++) {
		struct vm_scan scan = policy_trim_scan(mm, 1, FRAMES);

		room = 1;
		core_drop_isolated(core_select(&scan));
	}
	EXPECT(!ws_tick());
	EXPECT_EQ(ws_mm(mm)->claim, 20);
	core_stop();
}

KTEST(ws_lists, young_process_is_little_only_while_it_sleeps)
{
	struct mm_struct *large, *young;

	defaults(FRAMES);
	large = core_mm_new();
	fault_in(large, 0, 80);
	run(large, 0, 80, 10);
	core_now_ns += 1000000;
	young = core_mm_new();
	young->demand = FRAMES / 2;
	fault_in(young, 80, vm_frames() / LITTLE);
	EXPECT_EQ(choose_victim(), young);
	young->sleeps = true;
	EXPECT_EQ(choose_victim(), large);
	core_stop();
}

KTEST(ws_lists, who_sleeps_is_stopped_before_who_was_activated_last)
{
	struct mm_struct *sleeps, *last;

	defaults(FRAMES);
	sleeps = core_mm_new();
	core_now_ns += 1000000;
	last = core_mm_new();
	fault_in(sleeps, 0, 40);
	fault_in(last, 40, 40);
	EXPECT_EQ(choose_victim(), last);
	sleeps->sleeps = true;
	EXPECT_EQ(choose_victim(), sleeps);
	core_stop();
}

/* Four processes fill 50 pages each, in 90 frames; one is old. When a frame is needed, no more young ones
 * stay than fit, and those with the fewest pages wait. */
KTEST(ws_lists, overflow_stops_young_processes_that_will_not_fit)
{
	static const u32 filled[] = { 20, 10, 30, 30 };
	struct mm_struct *mm[4];

	defaults(FRAMES);
	for (u32 i = 0, first = 0; i < 4; first += filled[i++]) {
		core_now_ns += 1000000;
		mm[i] = core_mm_new();
		mm[i]->demand = 50;
		fault_in(mm[i], first, filled[i]);
	}
	run(mm[0], 0, 20, 300);
	core_drop_isolated(core_reclaim(ZONES_ALL));
	EXPECT(!ws_mm(mm[0])->waiting);
	EXPECT(ws_mm(mm[1])->waiting && ws_mm(mm[3])->waiting);
	EXPECT(!ws_mm(mm[2])->waiting);
	core_stop();
}

KTEST(ws_lists, young_processes_that_fit_stay)
{
	struct mm_struct *mm[3];

	defaults(FRAMES);
	for (u32 i = 0; i < 3; i++) {
		core_now_ns += 1000000;
		mm[i] = core_mm_new();
		mm[i]->demand = 40;
		fault_in(mm[i], 30 * i, 30);
	}
	core_drop_isolated(core_reclaim(ZONES_ALL));
	EXPECT(!ws_mm(mm[0])->waiting && !ws_mm(mm[1])->waiting && ws_mm(mm[2])->waiting);
	core_stop();
}

KTEST(ws_lists, who_claims_little_is_stopped_last)
{
	struct mm_struct *large, *little, *last;

	defaults(FRAMES);
	large = core_mm_new();
	fault_in(large, 0, 80);
	core_now_ns += 1000000;
	little = core_mm_new();
	fault_in(little, 80, vm_frames() / LITTLE);
	core_now_ns += 1000000;
	last = core_mm_new();
	fault_in(last, 90, 10);
	run(large, 0, 80, 10);
	run(last, 90, 10, 10);
	EXPECT_EQ(choose_victim(), last);
	suspend(last);
	EXPECT_EQ(choose_victim(), large);
	suspend(large);
	EXPECT(!choose_victim());
	core_stop();
}

KTEST(ws_lists, large_working_set_is_seen_piece_by_piece)
{
	struct mm_struct *mm;

	defaults(LARGE);
	mm = core_mm_new();
	fault_in(mm, 0, LARGE);
	run(mm, LOOKS / 2, LARGE - LOOKS / 2, 250);
	EXPECT(!page_test(&mem_map[LOOKS - 1], PG_young) && page_test(&mem_map[LOOKS], PG_young));
	EXPECT_EQ(ws_surplus(mm), LOOKS / 2);
	EXPECT_EQ(ws_mm(mm)->size, LARGE - LOOKS / 2);
	run(mm, LOOKS, LARGE - LOOKS, 1);
	EXPECT_EQ(ws_surplus(mm), LOOKS / 2);
	core_stop();
}

#endif
