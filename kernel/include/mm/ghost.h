/*
 * Ghosts: what a policy remembers about evicted pages, by page_id. Each call takes constant time.
 *
 * A policy adds a ghost when a page is evicted and finds it when the page is read again. It drops
 * the ghost when it needs the place or when the page no longer exists (forget). A ghost is on one of
 * the policy's own lists, whose order says which ghost is dropped next. All places of the table are
 * allocated at init, since hooks may not allocate: if none is free, the policy drops a ghost first.
 */
#ifndef MM_GHOST_H
#define MM_GHOST_H

#include "mm/policy.h"

struct ghost {
	struct list_head node; /* on a list of the policy, or unlinked */
	struct page_id id;
	u32 data;             /* for the policy; 0 at first */
	struct ghost *next;   /* for the table: next in the bucket, or next free place */
	struct ghost *bucket; /* for the table: head of the bucket with this place's number */
};

struct ghosts {
	struct ghost **chunks;
	u32 capacity, nr; /* places in total, places in use */
	struct ghost *free;
};

/* Makes a table of `capacity` places, at least 1. Returns 0 or -ENOMEM. Call it from init. */
int ghosts_init(struct ghosts *g, u32 capacity);
/* Frees the table and all ghosts in it. Call it from exit, and after a failed init. */
void ghosts_exit(struct ghosts *g);
/* Returns the ghost of this page, or NULL if there is none. */
struct ghost *ghost_find(const struct ghosts *g, struct page_id id);
/* Returns a new ghost, on no list, or NULL if no place is free. Drops an older one with this id. */
struct ghost *ghost_add(struct ghosts *g, struct page_id id);
/* Removes the ghost from its list and frees its place. */
void ghost_drop(struct ghosts *g, struct ghost *ghost);

#endif
