/* FIFO: Belady's anomaly, and a queue in an array as the oracle. */
#include "fifo.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

static u32 naive_fifo(u32 nr_frames, const u8 *refs, u32 n)
{
	u32 faults = 0, used = 0;
	u8 frame[64];

	for (u32 i = 0; i < n; i++) {
		if (memchr(frame, refs[i], used))
			continue;
		faults++;
		if (used == nr_frames)
			memmove(frame, frame + 1, --used);
		frame[used++] = refs[i];
	}
	return faults;
}

static const u8 belady[] = { 1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5 };

KTEST(fifo, belady_more_frames_more_faults)
{
	EXPECT_EQ(core_play(&fifo, 3, belady, sizeof(belady), 10), 9);
	EXPECT_EQ(core_play(&fifo, 4, belady, sizeof(belady), 10), 10);
	EXPECT_EQ(core_play(&fifo, 5, belady, sizeof(belady), 10), 5);
}

KTEST(fifo, faults_equal_naive_queue)
{
	core_compare(&fifo, naive_fifo);
}

KTEST(fifo, use_does_not_spare_a_page)
{
	struct mm_struct *mm;

	core_start(&fifo, 3);
	mm = core_mm_new();
	for (u32 i = 0; i < 3; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	page_set(&mem_map[0], PG_young);
	core_touch(&mem_map[0], VM_TOUCH_MINOR);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[0]);
	core_putback(&mem_map[0], VM_PUT_USED);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[1]);
	core_drop_isolated(&mem_map[1]);
	core_stop();
}
