/*
 * The swap area and the swap cache.
 *
 * A slot holds one page of swapped memory. swap_map[slot] counts the page-table entries that name
 * it. While a frame holds the same data the frame is in the swap cache (cache[slot] points to it,
 * it has PG_swapcache, .slot and one reference). A slot is free when no entry names it and no
 * frame is cached for it. Slot 0 is never used, so that page_id {1, 0} means nothing.
 *
 * Slots are handed out in runs of consecutive numbers, so that pages evicted together are
 * written by one request and read ahead together later.
 */
#ifndef MM_SWAP_H
#define MM_SWAP_H

#include "mm/page.h"
#include "types.h"

struct block_device;
struct mm_struct;
struct vm_area_struct;
struct seq_file;

#define SWAP_STORE 1u /* page_id.store */

extern u32 page_cluster; /* reads ahead 2^page_cluster slots */
#define MAX_CLUSTER 5
extern u32 swap_nr_slots, swap_nr_free;

extern struct block_device *swap_bdev; /* NULL: there is no swap area */

/* Tables for so many slots; while boot_alloc works. */
void swap_boot_alloc(u32 nr_slots);
/* Uses the device. */
void swap_on(struct block_device *bdev);
/* A free slot with count 0 and no cached page, or 0: the area is full. */
u32 swap_alloc(void);
/* One more / one fewer entry names the slot; the last one may free slot and cached frame. */
void swap_dup(u32 slot);
void swap_free(u32 slot);
u32 swap_count(u32 slot);
/* Does the slot hold a page? For entries read from page tables. */
bool swap_slot_valid(u32 slot);
/* More than half used: do not keep copies. */
bool swap_nearly_full(void);

/* The cached frame with a reference, or NULL. */
struct page *swap_cache_get(u32 slot);
bool swap_cached(u32 slot);
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

/* Evictions since boot at the moment the slot's page was evicted; for refault distances. */
void swap_note_eviction(u32 slot);
u32 swap_refault_distance(u32 slot); /* 0: it was never evicted */
void swap_note_refault(struct mm_struct *mm, u32 slot);

void swaps_show(struct seq_file *m);
/* 0, or -EINVAL when counts and cache contradict each other. */
int swap_check(void);

#endif
