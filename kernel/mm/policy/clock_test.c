/* CLOCK: the textbook's array with a hand as the oracle. */
#include "clock.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

static u32 naive_clock(u32 nr_frames, const u8 *refs, u32 n)
{
	u32 faults = 0, used = 0, hand = 0;
	bool ref[64];
	u8 frame[64];

	for (u32 i = 0; i < n; i++) {
		u8 *found = memchr(frame, refs[i], used);

		if (found) {
			ref[found - frame] = true;
			continue;
		}
		faults++;
		if (used < nr_frames) {
			ref[used] = false;
			frame[used++] = refs[i];
			continue;
		}
		for (; ref[hand]; hand = (hand + 1) % nr_frames)
			ref[hand] = false;
		frame[hand] = refs[i];
		hand = (hand + 1) % nr_frames;
	}
	return faults;
}

KTEST(clock, faults_equal_naive_circle)
{
	core_compare(&clock, naive_clock);
}

KTEST(clock, spares_used_page_once)
{
	struct mm_struct *mm;

	core_start(&clock, 3);
	mm = core_mm_new();
	for (u32 i = 0; i < 3; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	page_set(&mem_map[0], PG_young);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[1]);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[2]);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[0]);
	for (u32 i = 0; i < 3; i++)
		core_drop_isolated(&mem_map[i]);
	core_stop();
}

KTEST(clock, all_used_ends_after_two_turns)
{
	struct vm_scan scan;
	struct mm_struct *mm;

	core_start(&clock, 100);
	mm = core_mm_new();
	for (u32 i = 0; i < 100; i++) {
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
		page_set(&mem_map[i], PG_young);
	}
	scan = policy_scan(ZONES_ALL, 0);
	EXPECT_EQ(core_select(&scan), &mem_map[0]);
	EXPECT_EQ(scan.budget, 200 - 101);
	core_drop_isolated(&mem_map[0]);
	core_stop();
}
