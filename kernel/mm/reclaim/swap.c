/*
 * The slots of swap areas: their counts and the swap cache, as described in mm/swap.h. swap_area.c
 * chooses the slot to allocate next.
 */
#include "lib/assert.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/frames.h"
#include "mm/vmstat.h"
#include "swap_internal.h"

u32 swap_evictions;

static void slot_released(u32 slot)
{
	struct page_id id = { SWAP_STORE, slot };

	swap_slot_put(slot);
	policy_call_forget(id);
}

/* Frees a slot that no entry names any more, unless it is cached. */
static out_of_line void release_unless_cached(u32 slot)
{
	if (!swap_cached(slot))
		slot_released(slot);
}

bool swap_slot_leaves(u32 slot)
{
	return !swap_area_of(slot)->open;
}

void swap_free(u32 slot)
{
	u16 *count = &swap_index.map[slot >> AREA_SHIFT][slot];

	ASSERT(*count);
	if (--*count == 0)
		release_unless_cached(slot);
}

void swap_cache_add(struct page *page, u32 slot)
{
	struct page **at = &swap_index.cache[slot >> AREA_SHIFT][slot];

	ASSERT(!*at && !page_test(page, PG_swapcache));
	*at = page;
	page->slot = slot;
	page_set(page, PG_swapcache);
	page_get(page);
}

void swap_cache_del(struct page *page)
{
	u32 slot = page->slot;
	struct page **at = &swap_index.cache[slot >> AREA_SHIFT][slot];

	ASSERT(page_test(page, PG_swapcache) && *at == page);
	ASSERT(!page_test(page, PG_writeback));
	*at = NULL;
	page_clear(page, PG_swapcache);
	if (!swap_count(slot))
		slot_released(slot);
	page_put(page);
}

void swap_cache_release(struct page *page)
{
	if (!page_test(page, PG_swapcache) || page->mapcount || swap_count(page->slot))
		return;
	if (page_test(page, PG_isolated) || page_test(page, PG_locked))
		return;
	swap_cache_del(page);
}

/* Counts a major fault on a page that was evicted recently: with more memory it would be resident. */
void swap_note_refault(struct mm_struct *mm, u32 slot)
{
	u32 shadow = swap_index.shadow[slot >> AREA_SHIFT][slot];

	if (!shadow || swap_evictions - shadow >= vm_frames())
		return;
	mm->count.nr_refault++;
	stat_count(workingset_refault);
}
