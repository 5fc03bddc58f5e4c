/*
 * Swap areas and the swap cache.
 *
 * A slot holds one page of swapped memory. All slots are numbered together: an area has a range of
 * numbers. Of each area a table counts the page-table entries that name a slot. While a frame holds the
 * same data the frame is in the swap cache (the area's cache[] points to it, it has PG_swapcache, .slot
 * and one reference). A slot is free when no entry names it and no frame is cached for it. The first
 * slot of an area is never used: mkswap's header lies there, and page_id {1, 0} means nothing.
 *
 * Slots are handed out in runs of consecutive numbers, so that pages evicted together are
 * written by one request and read ahead together later.
 */
#ifndef MM_SWAP_H
#define MM_SWAP_H

#include "lib/assert.h"
#include "mm/page.h"
#include "types.h"

struct block_device;
struct mm_struct;
struct vm_area_struct;
struct seq_file;

#define SWAP_STORE 1u /* page_id.store */
#define MAX_SWAP_AREAS 8u
#define AREA_SHIFT 21 /* a slot's number: area, then place in it; 24 bits fit into an entry */
#define MAX_AREA_SLOTS (1u << AREA_SHIFT)
#define SWAP_GROUP 32u /* slots that are handed out together */

/* Flags of swapon(2). */
#define SWAP_FLAG_PREFER 0x8000u
#define SWAP_FLAG_PRIO_MASK 0x7fffu

extern u32 page_cluster; /* reads ahead 2^page_cluster slots */
#define MAX_CLUSTER 5

struct swap_tables { /* indexed by the place in the area; as long as whole groups */
	struct page **cache; /* the frame that holds the same data */
	u32 *shadow; /* evictions when its page was evicted */
	u16 *map; /* entries that name the slot */
	u8 *group_used; /* slots in use, per SWAP_GROUP */
};

struct swap_area {
	u32 first, nr; /* slots, of which [first] is never used; nr 0: there is no such area */
	struct swap_tables t;
	u32 cursor; /* the next place if it is free and below limit */
	u32 limit; /* up to here before another area may have a turn */
	u32 nr_free;
	u32 nr_usable; /* slots without the first one and bad ones */
	int prio; /* the highest goes first */
	bool open; /* slots may be taken: it is not being switched off */
	struct block_device *bdev;
} __attribute__((aligned(64))); /* a power of two: to find one costs a shift */

/* The same tables once more, by area, and so that the slot is the index: map[area][slot]. */
struct swap_index {
	struct page **cache[MAX_SWAP_AREAS];
	u32 *shadow[MAX_SWAP_AREAS];
	u16 *map[MAX_SWAP_AREAS];
	u32 end[MAX_SWAP_AREAS]; /* the first slot beyond the area; 0: there is none */
};

extern struct swap_index swap_index;
extern struct swap_area swap_areas[MAX_SWAP_AREAS];
/* Of all areas that are open: slots with the first ones; those that can hold a page; free ones. */
extern u32 swap_nr_slots, swap_nr_usable, swap_nr_free;

extern struct block_device *swap_bdev; /* that swap= named; NULL: there is none */

/* Tables for so many slots; while boot_alloc works. */
void swap_boot_alloc(u32 nr_slots);
/* Uses the device, as it is: the area of swap=. */
void swap_on(struct block_device *bdev);
/* What swapon(2) and swapoff(2) do with a disk or a partition; sleep. 0 or the errno of the call. */
int swap_area_on(struct block_device *bdev, u32 flags);
int swap_area_off(struct block_device *bdev);

/* A free slot with count 0 and no cached page, or 0: all areas are full. */
u32 swap_alloc(void);
/* Inline, since each page that comes or goes asks several times. */
static inline struct swap_area *swap_area_of(u32 slot)
{
	return &swap_areas[slot >> AREA_SHIFT];
}

/* How many entries name the slot. */
static inline u32 swap_count(u32 slot)
{
	return swap_index.map[slot >> AREA_SHIFT][slot];
}

/* Does the slot hold a page? For slots of areas that may be gone by now. */
static inline bool swap_slot_valid(u32 slot)
{
	return slot < swap_index.end[slot >> AREA_SHIFT] && swap_count(slot);
}

static inline bool swap_cached(u32 slot)
{
	return swap_index.cache[slot >> AREA_SHIFT][slot];
}

/* One more / one fewer entry names the slot; the last one may free slot and cached frame. */
static inline void swap_dup(u32 slot)
{
	u16 *count = &swap_index.map[slot >> AREA_SHIFT][slot];

	ASSERT(slot && *count < 0xFFFF);
	++*count;
}

void swap_free(u32 slot);

/* More than half used: do not keep copies. */
static inline bool swap_nearly_full(void)
{
	return swap_nr_free < swap_nr_slots / 2;
}

/* An area is being switched off; is the slot one of its? */
extern bool swap_leaving;
bool swap_slot_leaves(u32 slot);

/* The cached frame with a reference, or NULL. */
static inline struct page *swap_cache_get(u32 slot)
{
	struct page *page = swap_index.cache[slot >> AREA_SHIFT][slot];

	if (page)
		page_get(page);
	return page;
}

void swap_cache_add(struct page *page, u32 slot);
/* Drops the frame's place and its reference; frees the slot if no entry names it. */
void swap_cache_del(struct page *page);
/* If nothing but the cache uses the frame and nobody works on it: drop it. */
void swap_cache_release(struct page *page);

/*
 * Starts reading a slot and, unless the region says random, its neighbours. The page with a
 * reference, PG_locked until it is read; NULL: out of memory. *major: a read was needed.
 */
struct page *swap_in(u32 slot, struct vm_area_struct *vma, bool *major);

/* Starts reading a slot and its neighbours in a group of 2^cluster that nobody has asked for; false: there is no memory to
 * spare, or nothing to read. */
bool swap_prefetch(u32 slot, u32 cluster);
/* The same for what a process has in the swap area, as far as memory goes (mm/reclaim/prepage.c). */
void swap_prepage(struct mm_struct *mm);

/* Writes are collected and sent as one request while their slots follow one another. */
void swap_write(struct page *page);
void swap_write_flush(void);

/* The slot's page is evicted; it is read again, after so many other evictions. */
extern u32 swap_evictions;
static inline void swap_note_eviction(u32 slot)
{
	swap_index.shadow[slot >> AREA_SHIFT][slot] = ++swap_evictions;
}

void swap_note_refault(struct mm_struct *mm, u32 slot);

void swaps_show(struct seq_file *m);
/* 0, or -EINVAL when counts and cache contradict each other. */
int swap_check(void);
/* Entries that name slots, by the tables of all areas. */
u64 swap_nr_entries(void);

#endif
