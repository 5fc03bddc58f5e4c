/* What the files about swap areas share. */
#ifndef RECLAIM_SWAP_INTERNAL_H
#define RECLAIM_SWAP_INTERNAL_H

#include "drivers/block.h"
#include "mm/swap.h"

#define SECTORS_PER_SLOT (PAGE_SIZE / SECTOR_SIZE)

#define for_each_swap_area(a)                                                                      \
	for (a = swap_areas; a < swap_areas + MAX_SWAP_AREAS; a++)                                 \
		if (a->nr)

/* swap_area.c. Lays out the tables of nr slots in memory of zeros; how much they need. */
size_t swap_tables_size(u32 nr);
struct swap_tables swap_tables_at(void *memory, u32 nr);
/*
 * An area of nr slots (at most MAX_AREA_SLOTS), filled but for bdev, and not open; all its slots but the
 * first are free. NULL: there are MAX_SWAP_AREAS.
 */
struct swap_area *swap_area_add(u32 nr, struct swap_tables t);
/* The place in the area is never handed out; it must be free. */
void swap_area_forbid(struct swap_area *a, u32 place);
void swap_area_open(struct swap_area *a, int prio);
void swap_area_close(struct swap_area *a);
/* Every slot is free, and it is closed. */
void swap_area_drop(struct swap_area *a);
/* The next slot comes from whichever area has the first claim to it. */
void swap_turn_over(void);

static inline bool swap_place_forbidden(const struct swap_area *a, u32 place)
{
	return (uintptr_t)a->t.cache[place] == 1;
}

static inline bool swap_place_free(const struct swap_area *a, u32 place)
{
	return !a->t.map[place] && !a->t.cache[place];
}

/* Where the slot lies on its area's device. */
static inline u32 swap_sector(u32 slot)
{
	return slot % MAX_AREA_SLOTS * SECTORS_PER_SLOT;
}

/* Accounts for a slot that is free now. */
static inline void swap_slot_put(u32 slot)
{
	struct swap_area *a = swap_area_of(slot);
	u32 place = slot - a->first;

	swap_nr_free += a->open;
	a->t.group_used[place / SWAP_GROUP]--;
	a->t.shadow[place] = 0;
	if (unlikely(!a->nr_free++))
		swap_turn_over();
}

static inline u32 swap_area_used(const struct swap_area *a)
{
	return a->nr_usable - a->nr_free;
}

/* swapon.c. The closed area that is empty goes, and its tables and device with it. */
void swap_area_end(struct swap_area *a);

/* swap.c. Takes the frames whose slots no entry names out of the cache, but for those that somebody
 * works on. */
void swap_cache_prune(struct swap_area *a);

/* swap_io.c. Begins to read places of an area from `place` on that hold a page and are not in memory:
 * at most nr pages, whose references go to pages[]. Returns how many; *place: where to go on. Fewer
 * than nr before the end of the area: there was no memory. Sleeps. */
u32 swap_read_area(const struct swap_area *a, u32 *place, struct page **pages, u32 nr);

#endif
