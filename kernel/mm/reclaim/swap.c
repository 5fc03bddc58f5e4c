/*
 * The slots of swap areas: their counts and the swap cache, as described in mm/swap.h. swap_area.c
 * chooses the slot to allocate next.
 */
#include "errno.h"
#include "lib/assert.h"
#include "fs/vfs.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "lib/string.h"
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

/* No entry names the slot any more. */
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

void swap_cache_prune(struct swap_area *a)
{
	for (u32 i = 0; i < a->nr && swap_area_used(a); i++) {
		struct page *page = a->t.cache[i];

		if (a->t.map[i] || !page || swap_place_forbidden(a, i))
			continue;
		if (!page_test(page, PG_isolated) && !page_test(page, PG_locked))
			swap_cache_del(page);
	}
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

static bool place_sound(const struct swap_area *a, u32 place)
{
	struct page *page = a->t.cache[place];

	if (swap_place_forbidden(a, place))
		return !a->t.map[place];
	return !page ||
	       (page_test(page, PG_swapcache) && page->slot == a->first + place && page->count);
}

static bool area_sound(const struct swap_area *a)
{
	u32 used = 0, forbidden = 0, in_groups = 0;

	for (u32 i = 0; i < a->nr; i++) {
		if (!place_sound(a, i))
			return false;
		used += !swap_place_free(a, i);
		forbidden += swap_place_forbidden(a, i);
	}
	for (u32 g = 0; g <= (a->nr - 1) / SWAP_GROUP; g++)
		in_groups += a->t.group_used[g];
	return used == in_groups && used + a->nr_free == a->nr && forbidden + a->nr_usable == a->nr;
}

int swap_check(void)
{
	u32 nr_free = 0, nr_usable = 0, nr = 0;
	const struct swap_area *a;

	for_each_swap_area(a) {
		if (!area_sound(a))
			return -EINVAL;
		nr += a->open ? a->nr : 0;
		nr_free += a->open ? a->nr_free : 0;
		nr_usable += a->open ? a->nr_usable : 0;
	}
	return nr == swap_nr_slots && nr_free == swap_nr_free && nr_usable == swap_nr_usable
		       ? 0
		       : -EINVAL;
}

u64 swap_nr_entries(void)
{
	const struct swap_area *a;
	u64 named = 0;

	for_each_swap_area(a)
		for (u32 i = 0; i < a->nr; i++)
			named += a->t.map[i];
	return named;
}

void swaps_show(struct seq_file *m)
{
	const struct swap_area *a;
	char name[128];

	seq_printf(m, "%-40s%-10s%10s%12s%12s\n", "Filename", "Type", "Size", "Used", "Priority");
	for_each_swap_area(a) {
		if (!a->file)
			snprintf(name, sizeof(name), "/dev/%s", a->bdev->name);
		else if (vfs_path_of(swap_file_inode(a->file), name, sizeof(name)))
			strlcpy(name, "(too long)", sizeof(name));
		seq_printf(m, "%-39s %-10s%10u%12u%12d\n", name, a->file ? "file" : "partition",
			   a->nr_usable * 4, swap_area_used(a) * 4, a->prio);
	}
}
