/* Declarations shared by the files that implement swap areas. */
#ifndef RECLAIM_SWAP_INTERNAL_H
#define RECLAIM_SWAP_INTERNAL_H

#include "drivers/block.h"
#include "mm/swap.h"
#include "mm/zone.h"

#define SECTORS_PER_SLOT (PAGE_SIZE / SECTOR_SIZE)

#define for_each_swap_area(a)                                                                      \
	for (a = swap_areas; a < swap_areas + MAX_SWAP_AREAS; a++)                                 \
		if (a->nr)

/* swap_area.c. Size of the tables of nr slots; lays the tables out in zeroed memory. */
size_t swap_tables_size(u32 nr);
struct swap_tables swap_tables_at(void *memory, u32 nr);
/*
 * Creates an area of nr slots (at most MAX_AREA_SLOTS), not open yet, with bdev not set; all slots
 * except the first are free. Returns NULL if there are already MAX_SWAP_AREAS areas.
 */
struct swap_area *swap_area_add(u32 nr, struct swap_tables t);
/* Makes this place of the area unusable; it must be free. */
void swap_area_forbid(struct swap_area *a, u32 place);
void swap_area_open(struct swap_area *a, int prio);
void swap_area_close(struct swap_area *a);
/* Removes a closed area, all of whose slots must be free. */
void swap_area_drop(struct swap_area *a);
/* Makes the next swap_alloc choose an area anew. */
void swap_turn_over(void);

static inline bool swap_place_forbidden(const struct swap_area *a, u32 place)
{
	return (uintptr_t)a->t.cache[place] == 1;
}

static inline bool swap_place_free(const struct swap_area *a, u32 place)
{
	return !a->t.map[place] && !a->t.cache[place];
}

/* Sector of the slot on its area's device, if the area is not in a file. */
static inline u32 swap_sector(u32 slot)
{
	return slot % MAX_AREA_SLOTS * SECTORS_PER_SLOT;
}

/* Accounts for a slot that has become free. */
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

/* swapon.c. Reads and checks the header at a sector, for an area of nr_pages pages, and returns its
 * last page in *last_page. Returns 0, -EINVAL (also if it names bad pages), -EIO, -ENOMEM. Sleeps. */
int swap_header_read(struct block_device *bdev, u32 sector, u32 nr_pages, u32 *last_page);
/* swap_boot.c. Creates an area with its tables. Returns 0, -ENOMEM, or -EPERM if there are already MAX_SWAP_AREAS. */
int swap_area_make(struct block_device *bdev, u32 nr, struct swap_area **made);
/* Opens the area with the priority given by the flags of swapon(2). */
void swap_area_open_as(struct swap_area *a, u32 flags);
/* Releases the tables of an area that has been removed. */
void swap_give_tables(void *tables);
/* swapoff.c. Switches the area off, like swap_area_off. */
int swap_area_leave(struct swap_area *a);

/* swapfile.c. Number of areas in files; the device sector of a place that is not forbidden. */
extern u32 swap_nr_files;
u32 swap_file_sector(const struct swap_file *f, u32 place);
struct inode *swap_file_inode(const struct swap_file *f);
void swap_file_end(struct swap_file *f);

/* swapon.c. Removes the area, closed and empty, and releases its tables and its device or file. */
void swap_area_end(struct swap_area *a);

/* swap_io.c. Returns a locked frame in the swap cache for a slot without one, or NULL. Only the cache
 * holds a reference. */
struct page *swap_add_frame(u32 slot, gfp_t gfp);
/* Sends one request to read nr locked pages whose slots are consecutive. May sleep. */
void swap_read_run(struct page **pages, u32 nr);

/* swap_read_back.c. Starts reading the places of an area, from *place on, that hold a page; puts at most
 * nr pages with a reference into pages[], cached ones included. Returns their number; *place: where
 * to continue. Fewer than nr before the end of the area means that memory ran out. Sleeps. */
u32 swap_read_area(const struct swap_area *a, u32 *place, struct page **pages, u32 nr);

#endif
