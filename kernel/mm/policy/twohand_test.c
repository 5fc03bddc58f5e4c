/* Two-handed CLOCK: an array with two indexes as the oracle, and the ends of the spread. */
#include "twohand.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

/* The circle is an array of frames. The hands do not move before all frames are in use, and a new
 * page takes the frame of the page that the back hand evicted. */
static u32 naive_twohand(u32 nr_frames, const u8 *refs, u32 n)
{
	u32 faults = 0, used = 0, back = 0, front = 0, apart = 0;
	u32 wanted = nr_frames * spread / 100;
	bool ref[64];
	u8 frame[64];

	wanted = MAX(MIN(wanted, nr_frames - 1), 1u);
	for (u32 i = 0; i < n; i++) {
		u8 *found = memchr(frame, refs[i], used);

		if (found) {
			ref[found - frame] = true;
			continue;
		}
		faults++;
		if (used < nr_frames) {
			frame[used++] = refs[i];
			continue;
		}
		for (;; back = (back + 1) % nr_frames, apart--) {
			for (; apart < wanted; apart++, front = (front + 1) % nr_frames)
				ref[front] = false;
			if (!ref[back])
				break;
		}
		frame[back] = refs[i];
		ref[back] = false;
		back = (back + 1) % nr_frames;
		apart--;
	}
	return faults;
}

KTEST(twohand, faults_equal_naive_circle)
{
	for (spread = 1; spread <= 100; spread += 11)
		core_compare(&twohand, naive_twohand);
	spread = 25;
}

static struct mm_struct *begin(u32 frames, u32 percent)
{
	struct mm_struct *mm;

	spread = percent;
	core_start(&twohand, frames);
	mm = core_mm_new();
	for (u32 i = 0; i < frames; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	return mm;
}

static void end(void)
{
	spread = 25;
	core_stop();
}

KTEST(twohand, use_counts_only_after_the_front_hand)
{
	begin(8, 25);
	page_set(&mem_map[0], PG_young);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[0]); /* cleared by the front hand just before */
	EXPECT_EQ(nr_between, 1);
	page_set(&mem_map[1], PG_young); /* passed by the front hand */
	page_set(&mem_map[2], PG_young); /* not yet */
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[2]);
	EXPECT_EQ(nr_spared, 1);
	core_drop_isolated(&mem_map[0]);
	core_drop_isolated(&mem_map[2]);
	end();
}

KTEST(twohand, spread_is_at_least_one_page_and_at_most_all_but_one)
{
	begin(50, 1);
	EXPECT_EQ(distance(), 1);
	spread = 100;
	EXPECT_EQ(distance(), 49);
	spread = 50;
	EXPECT_EQ(distance(), 25);
	end();
	begin(1, 100);
	page_set(&mem_map[0], PG_young);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[0]);
	core_drop_isolated(&mem_map[0]);
	end();
}

/* The last page to be reached is the only one that the scan may take, and it has been used. */
KTEST(twohand, budget_suffices_for_any_spread_after_any_other)
{
	for (u32 before = 1; before <= 100; before += 3)
		for (u32 after = 1; after <= 100; after += 3)
			for (u32 only = 0; only < 100; only += 9) {
				struct vm_scan scan = policy_scan(ZONES_ALL, 12);

				begin(100, before);
				core_select(&scan);
				for (u32 i = 0; i < 100; i++) {
					page_set(&mem_map[i], PG_young);
					if (i != only)
						page_set(&mem_map[i], PG_locked);
				}
				spread = after;
				scan = policy_scan(ZONES_ALL, 0);
				if (page_test(&mem_map[only], PG_owned))
					EXPECT_EQ(core_select(&scan), &mem_map[only]);
				for (u32 i = 0; i < 100; i++)
					if (page_test(&mem_map[i], PG_isolated))
						core_drop_isolated(&mem_map[i]);
				end();
			}
}

KTEST(twohand, hands_catch_up_when_pages_between_them_leave)
{
	begin(20, 50);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[0]);
	EXPECT_EQ(nr_between, 9);
	for (u32 i = 1; i < 8; i++)
		core_remove(&mem_map[i], VM_OUT_FREED);
	EXPECT_EQ(nr_between, 2);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[8]);
	EXPECT_EQ(nr_between, 5); /* half of 12 pages, less the one that left */
	core_expect_count();
	core_drop_isolated(&mem_map[0]);
	core_drop_isolated(&mem_map[8]);
	end();
}
