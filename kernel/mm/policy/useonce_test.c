/* Use-once: the states of mark_page_accessed, resistance to scans, zones. */
#include "useonce.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

static void start(u32 nr_frames, u32 nr_pages)
{
	struct mm_struct *mm;

	core_start(&useonce, nr_frames);
	mm = core_mm_new();
	for (u32 i = 0; i < nr_pages; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
}

static bool in_state(struct page *page, enum useonce_list list, bool referenced)
{
	return useonce_data(page)->list == list && useonce_data(page)->referenced == referenced;
}

KTEST(useonce, page_proves_itself_step_by_step)
{
	struct page *page;

	start(1, 1);
	page = &mem_map[0];
	EXPECT(in_state(page, INACTIVE, false));
	core_touch(page, VM_TOUCH_MINOR);
	EXPECT(in_state(page, INACTIVE, true));
	core_touch(page, VM_TOUCH_IO);
	EXPECT(in_state(page, ACTIVE, false));
	core_touch(page, VM_TOUCH_MINOR);
	EXPECT(in_state(page, ACTIVE, true));
	core_touch(page, VM_TOUCH_MINOR);
	EXPECT(in_state(page, ACTIVE, true));
	core_touch(page, VM_TOUCH_DONTNEED);
	EXPECT(in_state(page, ACTIVE, false));
	core_stop();
}

KTEST(useonce, scan_sees_use_and_activates_at_the_second)
{
	struct page *page;

	start(2, 2);
	page = &mem_map[0];
	page_set(page, PG_young);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[1]);
	EXPECT(in_state(page, INACTIVE, true));
	core_putback(&mem_map[1], VM_PUT_NOSWAP);
	page_set(page, PG_young);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[1]);
	EXPECT(in_state(page, ACTIVE, false));
	core_drop_isolated(&mem_map[1]);
	core_stop();
}

KTEST(useonce, unused_active_page_goes_down_and_out)
{
	start(4, 4);
	for (u32 i = 0; i < 4; i++) {
		core_touch(&mem_map[i], VM_TOUCH_MINOR);
		core_touch(&mem_map[i], VM_TOUCH_MINOR);
		EXPECT(in_state(&mem_map[i], ACTIVE, false));
	}
	page_set(&mem_map[0], PG_young);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[1]);
	EXPECT(in_state(&mem_map[0], ACTIVE, false));
	EXPECT(in_state(&mem_map[2], INACTIVE, false));
	core_drop_isolated(&mem_map[1]);
	core_stop();
}

KTEST(useonce, page_rescued_while_written_is_active)
{
	struct page *page;

	start(2, 2);
	page = core_reclaim(ZONES_ALL);
	core_putback(page, VM_PUT_USED);
	EXPECT(in_state(page, ACTIVE, false));
	core_stop();
}

enum { HOT = 16, FRAMES = 64, ROUNDS = 40, COLD = 100 };

/* Each round uses the hot pages several times and COLD other pages once. */
static u32 scan_string(u8 *refs)
{
	u32 n = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (u32 cold = 0; cold < COLD; cold++) {
			refs[n++] = HOT + (round * COLD + cold) % (256 - HOT);
			refs[n++] = cold % HOT;
		}
	return n;
}

KTEST(useonce, pages_used_once_do_not_push_out_hot_ones)
{
	static u8 refs[2 * ROUNDS * COLD];
	u32 n = scan_string(refs);
	u32 faults = core_play(&useonce, FRAMES, refs, n, 10);

	/* Every cold reference faults (pages recur after 240 others); a hot page faults once. */
	EXPECT_EQ(faults, ROUNDS * COLD + HOT);
}

KTEST(useonce, takes_only_from_the_zones_asked)
{
	struct page *page;
	struct mm_struct *mm;

	core_start(&useonce, 300);
	mm = core_mm_new();
	for (u32 i = 0; i < 300; i++) {
		core_set_zone(i, i / 100);
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	}
	for (u32 i = 0; i < 100; i++) {
		page = core_reclaim(1u << ZONE_DMA);
		EXPECT(page && page < &mem_map[100]);
		core_drop_isolated(page);
	}
	EXPECT(!core_reclaim(1u << ZONE_DMA));
	for (u32 i = 0; i < 100; i++) {
		page = core_reclaim(ZONES_LOWMEM);
		EXPECT(page && page < &mem_map[200]);
		core_drop_isolated(page);
	}
	EXPECT_EQ(core_owned(ZONES_ALL), 100);
	core_stop();
}

KTEST(useonce, zones_share_the_pressure_by_size)
{
	u32 taken[2] = { 0 };
	struct mm_struct *mm;

	core_start(&useonce, 400);
	for (u32 i = 0; i < MAX_ZONES; i++)
		zone[i].nr_looked = 0;
	mm = core_mm_new();
	for (u32 i = 0; i < 400; i++) {
		core_set_zone(i, i < 100 ? ZONE_DMA : ZONE_NORMAL);
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	}
	for (u32 i = 0; i < 200; i++) {
		struct page *page = core_reclaim(ZONES_ALL);

		taken[page >= &mem_map[100]]++;
		core_putback(page, VM_PUT_NOSWAP);
	}
	EXPECT(taken[0] > 30 && taken[0] < 70);
	core_stop();
}
