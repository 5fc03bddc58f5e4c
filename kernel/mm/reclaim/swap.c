/*
 * The swap area: slots, counts, and the swap cache; mm/swap.h says what they mean.
 *
 * Slots are handed out one after the other; where the next one is taken, the search goes on at
 * the next wholly free group of 32, and only when there is none at any free slot. So what is
 * evicted together lies together.
 */
#include "mm/swap.h"

#include "drivers/block.h"
#include "errno.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/seq_file.h"
#include "mm/bootmem.h"
#include "mm/policy_core.h"
#include "mm/vmstat.h"
#include "proc/task.h"

#define GROUP 32u
#define SECTORS_PER_SLOT (PAGE_SIZE / SECTOR_SIZE)

struct block_device *swap_bdev;
u32 swap_nr_slots, swap_nr_free;

static u16 *map;             /* entries that name the slot */
static struct page **cache;  /* the frame that holds the same data */
static u32 *shadow;          /* evictions when its page was evicted */
static u8 *group_used;       /* slots in use, per group */
static u32 cursor;           /* where the search goes on */
static u32 evictions;

void swap_boot_alloc(u32 nr_slots)
{
	u32 n = ALIGN_UP(nr_slots, GROUP);

	map = boot_alloc(n * sizeof(*map), 4);
	cache = boot_alloc(n * sizeof(*cache), 4);
	shadow = boot_alloc(n * sizeof(*shadow), 4);
	group_used = boot_alloc(n / GROUP, 4);
	swap_nr_slots = nr_slots;
}

void swap_on(struct block_device *bdev)
{
	swap_bdev = bdev;
	if (!bdev)
		return;
	swap_nr_slots = MIN(swap_nr_slots, bdev->nr_sectors / SECTORS_PER_SLOT);
	swap_nr_free = swap_nr_slots - 1;
	cursor = 1;
	group_used[0] = 1; /* slot 0 is never used */
}

static bool slot_is_free(u32 slot)
{
	return !map[slot] && !cache[slot];
}

/* The next place to put something, when the one at the cursor is taken. */
static u32 find_slot(void)
{
	u32 nr_groups = swap_nr_slots / GROUP;

	for (u32 i = 0, g = cursor / GROUP; i < nr_groups; i++, g++) {
		if (g >= nr_groups)
			g = 0;
		if (!group_used[g])
			return g * GROUP;
	}
	for (u32 i = 0, s = cursor; i < swap_nr_slots; i++, s++) {
		if (s >= swap_nr_slots)
			s = 1;
		if (slot_is_free(s))
			return s;
	}
	panic("swap: %u slots are said to be free, but none is", swap_nr_free);
}

u32 swap_alloc(void)
{
	if (!swap_nr_free)
		return 0;
	if (cursor >= swap_nr_slots || !cursor || !slot_is_free(cursor))
		cursor = find_slot();
	swap_nr_free--;
	group_used[cursor / GROUP]++;
	return cursor++;
}

static void slot_released(u32 slot)
{
	struct page_id id = { SWAP_STORE, slot };

	swap_nr_free++;
	group_used[slot / GROUP]--;
	shadow[slot] = 0;
	policy_call_forget(id);
}

u32 swap_count(u32 slot)
{
	return map[slot];
}

bool swap_slot_valid(u32 slot)
{
	return slot && slot < swap_nr_slots && map[slot];
}

bool swap_nearly_full(void)
{
	return swap_nr_free < swap_nr_slots / 2;
}

void swap_dup(u32 slot)
{
	ASSERT(slot && slot < swap_nr_slots && map[slot] < 0xFFFF);
	map[slot]++;
}

void swap_free(u32 slot)
{
	ASSERT(swap_slot_valid(slot));
	if (--map[slot] == 0 && !cache[slot])
		slot_released(slot);
}

struct page *swap_cache_get(u32 slot)
{
	struct page *page = cache[slot];

	if (page)
		page_get(page);
	return page;
}

bool swap_cached(u32 slot)
{
	return cache[slot];
}

void swap_cache_add(struct page *page, u32 slot)
{
	ASSERT(!cache[slot] && !page_test(page, PG_swapcache));
	cache[slot] = page;
	page->slot = slot;
	page_set(page, PG_swapcache);
	page_get(page);
}

void swap_cache_del(struct page *page)
{
	u32 slot = page->slot;

	ASSERT(page_test(page, PG_swapcache) && cache[slot] == page);
	ASSERT(!page_test(page, PG_writeback));
	cache[slot] = NULL;
	page_clear(page, PG_swapcache);
	if (!map[slot])
		slot_released(slot);
	page_put(page);
}

void swap_cache_release(struct page *page)
{
	if (!page_test(page, PG_swapcache) || page->mapcount || map[page->slot])
		return;
	if (page_test(page, PG_isolated) || page_test(page, PG_locked))
		return;
	swap_cache_del(page);
}

void swap_note_eviction(u32 slot)
{
	shadow[slot] = ++evictions;
}

u32 swap_refault_distance(u32 slot)
{
	return shadow[slot] ? evictions - shadow[slot] + 1 : 0;
}

static int check_slot(u32 slot, u32 *used)
{
	struct page *page = cache[slot];

	if (page && (!page_test(page, PG_swapcache) || page->slot != slot || !page->count))
		return -EINVAL;
	*used += !slot_is_free(slot);
	return 0;
}

int swap_check(void)
{
	u32 used = 0;

	for (u32 slot = 1; slot < swap_nr_slots; slot++)
		if (check_slot(slot, &used))
			return -EINVAL;
	return !swap_bdev || used + swap_nr_free == swap_nr_slots - 1 ? 0 : -EINVAL;
}

void swaps_show(struct seq_file *m)
{
	seq_printf(m, "%-40s%-10s%10s%12s%12s\n", "Filename", "Type", "Size", "Used", "Priority");
	if (swap_bdev)
		seq_printf(m, "/dev/%-35s%-10s%10u%12u%12d\n", swap_bdev->name, "partition",
			   (swap_nr_slots - 1) * 4, (swap_nr_slots - 1 - swap_nr_free) * 4, -2);
}
