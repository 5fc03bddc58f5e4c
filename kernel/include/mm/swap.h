/*
 * Swap areas and the swap cache.
 *
 * A slot holds one page of swapped memory. Slots of all areas share one numbering, in which each area has
 * a range. For each slot, a table of the area counts the page-table entries that name it. While a frame
 * holds the same data, the frame is in the swap cache (the area's cache[] points to it, it has
 * PG_swapcache, .slot and one reference). A slot is free when no entry names it and no frame is cached for
 * it. The first slot of an area is never used: it holds mkswap's header, and page_id {1, 0} means nothing.
 *
 * Slots are allocated in runs of consecutive numbers, so that pages evicted together are written by
 * one request and later read ahead together.
 */
#ifndef MM_SWAP_H
#define MM_SWAP_H

#include "lib/assert.h"
#include "mm/policy_core.h"
#include "types.h"

struct block_device;
struct inode;
struct swap_file;
struct mm_struct;
struct seq_file;

#define SWAP_STORE 1u /* page_id.store */
#define MAX_SWAP_AREAS 8u
#define AREA_SHIFT 21 /* a slot number is area, then place in it: 24 bits, which fit an entry */
#define MAX_AREA_SLOTS (1u << AREA_SHIFT)
#define SWAP_GROUP 32u /* slots that are allocated together */

/* Flags of swapon(2). */
#define SWAP_FLAG_PREFER 0x8000u
#define SWAP_FLAG_PRIO_MASK 0x7fffu

extern u32 page_cluster; /* swap read-ahead reads 2^page_cluster slots */
#define MAX_CLUSTER 5

struct swap_tables { /* indexed by the place in the area; the length is whole groups */
	struct page **cache; /* the frame that holds the same data */
	u32 *shadow; /* swap_evictions when the slot's page was evicted; 0: never */
	u16 *map; /* number of entries that name the slot */
	u8 *group_used; /* number of slots in use, per SWAP_GROUP */
};

struct swap_area {
	u32 first, nr; /* slots, of which [first] is never used; nr 0: no area */
	struct swap_tables t;
	u32 cursor; /* the place to allocate next, if it is free and below limit */
	u32 limit; /* when cursor gets here, another area may have a turn */
	u32 nr_free;
	u32 nr_usable; /* all slots except the first and bad ones */
	int prio; /* the area with the highest priority is used first */
	bool open; /* slots may be allocated; false while it is being switched off */
	struct block_device *bdev;
	struct swap_file *file; /* the file that holds the area; NULL: the area is all of bdev */
} __attribute__((aligned(64))); /* a power of two: indexing is a shift */

/* The tables of all areas, offset so that the slot number is the index: map[area][slot]. */
struct swap_index {
	struct page **cache[MAX_SWAP_AREAS];
	u32 *shadow[MAX_SWAP_AREAS];
	u16 *map[MAX_SWAP_AREAS];
	u32 end[MAX_SWAP_AREAS]; /* the first slot after the area; 0: no area */
};

extern struct swap_index swap_index;
extern struct swap_area swap_areas[MAX_SWAP_AREAS];
/* Totals over all open areas: slots including the first ones; slots that can hold a page. swap_nr_free
 * (mm/policy_core.h) counts the free slots. */
extern u32 swap_nr_slots, swap_nr_usable;

extern struct block_device *swap_bdev; /* the device named by swap=; NULL: none */

/* Allocates tables for nr_slots slots; only while boot_alloc works. */
void swap_boot_alloc(u32 nr_slots);
/* Switches on the area of swap=, with the device as it is, without a header. */
void swap_on(struct block_device *bdev);
/* Implement swapon(2) and swapoff(2) for a disk or a partition. Sleep. Return 0 or the call's -errno. */
int swap_area_on(struct block_device *bdev, u32 flags);
int swap_area_off(struct block_device *bdev);
/* Like swap_area_on and swap_area_off, for a file of a file system on a device. -EINVAL if the file
 * has holes. */
int swap_file_on(struct inode *inode, u32 flags);
int swap_file_off(struct inode *inode);

/* Returns a free slot with count 0 and no cached page, or 0 if all areas are full. */
u32 swap_alloc(void);
/* Inline, since it is called several times for each page that is read in or evicted. */
static inline struct swap_area *swap_area_of(u32 slot)
{
	return &swap_areas[slot >> AREA_SHIFT];
}

/* Number of page-table entries that name the slot. */
static inline u32 swap_count(u32 slot)
{
	return swap_index.map[slot >> AREA_SHIFT][slot];
}

/* Does the slot hold a page? May be called for slots of areas that no longer exist. */
static inline bool swap_slot_valid(u32 slot)
{
	return slot < swap_index.end[slot >> AREA_SHIFT] && swap_count(slot);
}

static inline bool swap_cached(u32 slot)
{
	return swap_index.cache[slot >> AREA_SHIFT][slot];
}

/* One more / one fewer entry names the slot; the last swap_free may free the slot, if no frame is cached. */
static inline void swap_dup(u32 slot)
{
	u16 *count = &swap_index.map[slot >> AREA_SHIFT][slot];

	ASSERT(slot && *count < 0xFFFF);
	++*count;
}

void swap_free(u32 slot);

/* More than half of the slots are used: swap copies of resident pages should be freed. */
static inline bool swap_nearly_full(void)
{
	return swap_nr_free < swap_nr_slots / 2;
}

/* An area is being switched off. Is the slot in such an area? */
extern bool swap_leaving;
bool swap_slot_leaves(u32 slot);

/* Returns the cached frame with a reference, or NULL. */
static inline struct page *swap_cache_get(u32 slot)
{
	struct page *page = swap_index.cache[slot >> AREA_SHIFT][slot];

	if (page)
		page_get(page);
	return page;
}

void swap_cache_add(struct page *page, u32 slot);
/* Removes the frame from the cache and drops its reference; frees the slot if no entry names it. */
void swap_cache_del(struct page *page);
/* Removes the frame from the cache if neither an entry nor reclaim nor I/O uses it. */
void swap_cache_release(struct page *page);

/*
 * Starts reading a slot and, unless `alone`, its neighbours. Returns the page with a reference; it
 * is PG_locked until it is read. NULL if out of memory. mm: the process that needs it, or NULL.
 * *major: a read was needed. May sleep.
 */
struct page *swap_in_slot(u32 slot, struct mm_struct *mm, bool alone, bool *major);

/* Starts reading a slot and its neighbours in an aligned group of 2^cluster, before any process
 * requests them. Returns false if memory is short or if there is nothing to read. */
bool swap_prefetch(u32 slot, u32 cluster);
/* Begins to read these slots, in ascending order, as far as there are frames. What lies between two
 * that are close is read, too, and dropped: that takes less time than moving the disk's arm. */
void swap_read_sorted(const u32 *slots, u32 nr);
/* Prefetches what a process has in the swap area, as far as free memory allows (mm/reclaim/prepage.c). */
void swap_prepage(struct mm_struct *mm, u32 most);

/* Collects a page to be written. There must be room for it: swap_write_room makes some, and may sleep.
 * swap_write_flush sends the pages, one request for each run of consecutive slots; may sleep. */
void swap_write_room(void);
void swap_write(struct page *page);
void swap_write_flush(void);

/* Evictions since boot, by which a refault measures how long ago the slot's page was evicted. */
extern u32 swap_evictions;
static inline void swap_note_eviction(u32 slot)
{
	swap_index.shadow[slot >> AREA_SHIFT][slot] = ++swap_evictions;
}

void swap_note_refault(struct mm_struct *mm, u32 slot);

void swaps_show(struct seq_file *m);
/* Returns 0, or -EINVAL if counts and cache are inconsistent. */
int swap_check(void);
/* Number of entries that name slots, according to the tables of all areas. */
u64 swap_nr_entries(void);

#endif
