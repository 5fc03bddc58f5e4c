/* EELRU: when it evicts early, which page, and what becomes of ghosts. */
#include "eelru.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define NR 32 /* e is 6 or 16 */

static const struct page_id new_page;

static void start(u32 nr)
{
	core_start(&eelru, NR);
	core_mm_new();
	for (u32 i = 0; i < nr; i++)
		core_insert(&mem_map[i], core_mm(0), VM_IN_FAULT, new_page);
}

/* Evicts a page to this slot, and returns its number. */
static u32 evict(u32 slot)
{
	struct page *page = core_reclaim(ZONES_ALL);

	core_evicted(page, (struct page_id){ 1, slot });
	return page - mem_map;
}

static void read_back(u32 number, u32 slot)
{
	core_insert(&mem_map[number], core_mm(0), VM_IN_FAULT, (struct page_id){ 1, slot });
}

static u32 nr_of_ghosts(void)
{
	u32 nr = 0;

	for (int r = 0; r < NR_REGIONS; r++)
		nr += regions[r].nr_ghosts;
	return nr;
}

KTEST(eelru, is_lru_at_first)
{
	start(NR);
	EXPECT_EQ(evict(7), 0);
	EXPECT_EQ(evict(8), 1);
	EXPECT(!evicting_early);
	core_stop();
}

/* A hit in late: pages 31 to 26 are recent, 25 is the next one. */
KTEST(eelru, evicts_the_page_after_e_when_an_evicted_page_came_back)
{
	start(NR);
	EXPECT_EQ(evict(7), 0);
	read_back(0, 7);
	EXPECT_EQ(nr_of_ghosts(), 0);
	EXPECT_EQ(evict(8), 26); /* 0 is the most recent page now */
	EXPECT_EQ(evict(9), 25);
	EXPECT_EQ(nr_of_ghosts(), 2);
	EXPECT_EQ(regions[1].nr_ghosts, 2);
	core_stop();
}

/* Then LRU would have kept them. */
KTEST(eelru, returns_to_lru_when_pages_evicted_early_come_back_at_once)
{
	start(NR);
	evict(7);
	read_back(0, 7);
	for (u32 i = 0; i < 3; i++) {
		u32 number = evict(8);

		read_back(number, 8);
	}
	EXPECT_EQ(evict(9), 1);
	EXPECT(!evicting_early);
	core_stop();
}

/* Uses of pages that stay are seen late, so they do not count while pages are evicted early. */
KTEST(eelru, counts_hits_of_resident_pages_only_as_lru)
{
	u32 before;

	start(NR);
	page_set(&mem_map[0], PG_young);
	EXPECT_EQ(evict(7), 1);
	EXPECT_EQ(hits(1, 2), HIT);
	read_back(1, 7);
	evicting_early = true;
	before = hits(1, NR_REGIONS - 1);
	EXPECT(before > 0);
	page_set(&mem_map[20], PG_young);
	EXPECT(spare_used(eelru_data(&mem_map[20])));
	EXPECT_EQ(hits(1, NR_REGIONS - 1), before);
	core_stop();
}

KTEST(eelru, evicts_the_page_used_least_recently_if_it_is_beyond_l)
{
	start(NR);
	evict(7);
	read_back(0, 7);
	core_touch(&mem_map[12], VM_TOUCH_DONTNEED);
	EXPECT_EQ(evict(8), 12);
	EXPECT_EQ(evict(9), 26);
	core_stop();
}

KTEST(eelru, page_read_ahead_leaves_its_ghost_until_it_is_claimed)
{
	start(NR);
	evict(7);
	core_insert(&mem_map[0], NULL, VM_IN_PREFETCH, (struct page_id){ 1, 7 });
	EXPECT_EQ(nr_of_ghosts(), 1);
	core_remove(&mem_map[0], VM_OUT_FREED);
	EXPECT_EQ(nr_of_ghosts(), 1);
	core_insert(&mem_map[0], core_mm(0), VM_IN_FAULT, (struct page_id){ 1, 7 });
	EXPECT_EQ(nr_of_ghosts(), 0);
	core_stop();
}

KTEST(eelru, an_old_ghost_of_the_same_place_is_replaced)
{
	start(NR);
	evict(7);
	evict(7);
	EXPECT_EQ(nr_of_ghosts(), 1);
	EXPECT_EQ(ghosts.nr, 1);
	core_stop();
}

/* With so few frames an instruction may need all of them. */
KTEST(eelru, never_evicts_early_in_six_frames)
{
	u8 refs[140];

	for (u32 i = 0; i < sizeof(refs); i++)
		refs[i] = i % 7;
	EXPECT_EQ(core_play(&eelru, 6, refs, sizeof(refs), 100), sizeof(refs));
	EXPECT_EQ(core_play(&eelru, 12, refs, sizeof(refs), 100), 7);
}
