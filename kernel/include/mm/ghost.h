/*
 * Ghosts: what a policy remembers of pages that have left memory, by their page_id.
 *
 * A ghost is added when a page is evicted, found when it is read again, and dropped when the policy wants
 * its place or the page is gone for good (forget). It lies on a list of the policy's own, whose
 * order says whose turn it is. The table has a place for each from the start, since hooks may not
 * allocate: with none left the policy drops one first. Times: constant.
 */
#ifndef MM_GHOST_H
#define MM_GHOST_H

#include "mm/policy.h"

struct ghost {
	struct list_head node; /* on a list of the policy, or on none */
	struct page_id id;
	u32 data;             /* the policy's; 0 at first */
	struct ghost *next;   /* the table's: in the same bucket, or free */
	struct ghost *bucket; /* the table's: the first in the bucket of this place's number */
};

struct ghosts {
	struct ghost **chunks;
	u32 capacity, nr; /* places, and those taken */
	struct ghost *free;
};

/* A table for so many, at least one; for init. 0 or -ENOMEM. */
int ghosts_init(struct ghosts *g, u32 capacity);
/* For exit, and after a failed init: frees it, whatever it holds. */
void ghosts_exit(struct ghosts *g);
/* NULL: there is none. */
struct ghost *ghost_find(const struct ghosts *g, struct page_id id);
/* A new one, on no list; one of that id that was there is dropped. NULL: no place is left. */
struct ghost *ghost_add(struct ghosts *g, struct page_id id);
/* Takes it off its list, too. */
void ghost_drop(struct ghosts *g, struct ghost *ghost);

#endif
