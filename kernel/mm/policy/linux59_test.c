/* Linux 5.9: refault distances. tests/kernel/models has a model of the whole policy. */
#include "linux59.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

enum { PAGES = 8, NR_ACTIVE = 3 };
static const struct page_id slot = { 1, 5 };

/* Evicts a page from a memory with NR_ACTIVE active pages; then the clock advances by `ticks` in all. */
static struct page *evicted_before(u32 ticks, bool was_active)
{
	struct page *victim;

	core_start(&linux59, PAGES);
	for (u32 pfn = 0; pfn < PAGES; pfn++)
		core_insert(&mem_map[pfn], core_mm_new(), VM_IN_FAULT, (struct page_id){ 0 });
	for (u32 pfn = PAGES - NR_ACTIVE; pfn < PAGES; pfn++)
		activate(linux59_data(&mem_map[pfn]));
	for (u32 pfn = 0; pfn < PAGES - NR_ACTIVE; pfn++)
		linux59_data(&mem_map[pfn])->workingset = was_active;
	victim = core_reclaim(ZONES_ALL);
	core_evicted(victim, slot);
	nonresident_age += ticks - 1;
	return victim;
}

static bool is_active(struct page *page)
{
	return linux59_data(page)->list == ACTIVE;
}

KTEST(linux59, page_that_comes_back_is_active_up_to_the_size_of_the_other_lists)
{
	for (u32 ticks = 1; ticks <= 2 * NR_ACTIVE; ticks++) {
		struct page *page = evicted_before(ticks, false);

		core_insert(page, core_mm(0), VM_IN_FAULT, slot);
		EXPECT_EQ(is_active(page), ticks <= NR_ACTIVE);
		EXPECT_EQ(lru[ANON].refaults, ticks <= NR_ACTIVE);
		EXPECT(!ghost_find(&shadows, slot) && !linux59_data(page)->workingset);
		core_expect_count();
		core_stop();
	}
}

/* Only a page that had been active costs: it shows that active pages are evicted too early. */
KTEST(linux59, page_that_had_been_active_is_restored_and_its_kind_costs_more)
{
	struct page *page = evicted_before(1, true);
	u32 before = lru[ANON].cost;

	core_insert(page, core_mm(0), VM_IN_FAULT, slot);
	EXPECT(linux59_data(page)->workingset && nr_restored == 1);
	EXPECT_EQ(lru[ANON].cost, before + 1);
	core_stop();
}

KTEST(linux59, page_read_ahead_keeps_its_shadow_until_it_is_claimed)
{
	struct page *page = evicted_before(2, false);

	core_insert(page, NULL, VM_IN_PREFETCH, slot);
	EXPECT(!is_active(page) && ghost_find(&shadows, slot));
	core_remove(page, VM_OUT_MOVED);
	core_insert(page, core_mm(0), VM_IN_CLAIM, slot);
	EXPECT(is_active(page) && !ghost_find(&shadows, slot));
	core_stop();
}

KTEST(linux59, refault_in_time_lets_a_short_active_list_shrink)
{
	struct page *page = evicted_before(1, false);
	struct vm_scan scan = { .zones = ZONES_ALL, .priority = 1, .budget = 32 };

	EXPECT(!inactive_is_low(ANON));
	begin_round(&scan);
	EXPECT(!lru[ANON].deactivate);
	core_insert(page, core_mm(0), VM_IN_FAULT, slot);
	EXPECT(!inactive_is_low(ANON));
	begin_round(&scan);
	EXPECT(lru[ANON].deactivate);
	begin_round(&scan);
	EXPECT(!lru[ANON].deactivate);
	core_stop();
}

KTEST(linux59, swappiness_zero_never_divides_by_zero)
{
	struct vm_scan scan = { .zones = ZONES_ALL, .priority = 1, .budget = 32 };

	core_start(&linux59, PAGES);
	swappiness = 0;
	core_insert(&mem_map[1], core_mm_new(), VM_IN_FAULT, (struct page_id){ 0 });
	begin_round(&scan);
	EXPECT_EQ(round.left[ANON][INACTIVE], 0);
	EXPECT(core_reclaim(ZONES_ALL)); /* at priority 0 */
	core_drop_isolated(&mem_map[1]);
	swappiness = 60;
	core_stop();
}

/* More evictions than places for shadow entries: the oldest entries are dropped. */
KTEST(linux59, oldest_shadow_entry_makes_room)
{
	core_start(&linux59, PAGES);
	core_insert(&mem_map[1], core_mm_new(), VM_IN_FAULT, (struct page_id){ 0 });
	for (u32 n = 0; n < 3 * PAGES; n++)
		linux59_evicted(&mem_map[1], (struct page_id){ 1, n });
	EXPECT_EQ(shadows.nr, shadows.capacity);
	EXPECT(ghost_find(&shadows, (struct page_id){ 1, 3 * PAGES - 1 }));
	EXPECT(!ghost_find(&shadows, (struct page_id){ 1, 0 }));
	linux59_forget((struct page_id){ 1, 3 * PAGES - 1 });
	linux59_forget((struct page_id){ 1, 3 * PAGES - 1 });
	core_expect_count();
	core_stop();
}
