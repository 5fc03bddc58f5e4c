/*
 * A radix tree: maps a 32-bit number to a pointer, with tags on the entries.
 *
 * Each level decides six bits of the number. The tree is only as high as its largest number
 * requires, so small numbers are found in one step. A tag of an entry is also set in every node
 * above it, so that the next tagged entry is found without visiting the others.
 *
 * The tree allocates nothing: the caller of an insertion supplies nodes and keeps those that are
 * not needed. So a change never sleeps, and is possible with interrupts off.
 */
#ifndef LIB_RADIX_H
#define LIB_RADIX_H

#include "types.h"

#define RADIX_SHIFT 6
#define RADIX_SLOTS (1u << RADIX_SHIFT)

enum radix_tag { RADIX_DIRTY, RADIX_WRITEBACK, NR_RADIX_TAGS };

struct radix_node {
	struct radix_node *parent; /* in struct radix_nodes: the next node */
	u8 shift;    /* right shift of the number at this level; 0: the slots hold entries */
	u8 place;    /* index in the parent's slots */
	u8 count;    /* slots in use */
	void *slot[RADIX_SLOTS];
	u32 tags[NR_RADIX_TAGS][RADIX_SLOTS / 32]; /* one bit per slot */
};

struct radix {
	struct radix_node *root; /* NULL: empty */
};

/* A stock of nodes that are in no tree. */
struct radix_nodes {
	struct radix_node *first;
	u32 nr;
};

static inline void radix_give(struct radix_nodes *nodes, struct radix_node *node)
{
	node->parent = nodes->first;
	nodes->first = node;
	nodes->nr++;
}

struct radix_node *radix_take(struct radix_nodes *nodes); /* returns NULL if none is left */

/* Returns the node with the entries of the aligned group of RADIX_SLOTS numbers, or NULL. */
static inline struct radix_node *radix_leaf(const struct radix *tree, u32 index)
{
	struct radix_node *node = tree->root;

	if (!node || index >> node->shift >= RADIX_SLOTS)
		return NULL;
	while (node->shift) {
		node = node->slot[index >> node->shift & (RADIX_SLOTS - 1)];
		if (!node)
			return NULL;
	}
	return node;
}

/* Returns the entry, or NULL. */
static inline void *radix_find(const struct radix *tree, u32 index)
{
	const struct radix_node *leaf = radix_leaf(tree, index);

	return leaf ? leaf->slot[index & (RADIX_SLOTS - 1)] : NULL;
}

/* Inserts if no node is missing and the slot is empty. Returns false otherwise. */
static inline bool radix_try_insert(struct radix *tree, u32 index, void *item)
{
	struct radix_node *leaf = radix_leaf(tree, index);
	u32 slot = index & (RADIX_SLOTS - 1);

	if (!leaf || leaf->slot[slot])
		return false;
	leaf->slot[slot] = item;
	leaf->count++;
	return true;
}

/* Returns 0, -EEXIST, or -ENOMEM if another node is needed; nothing has changed then. */
int radix_insert(struct radix *tree, u32 index, void *item, struct radix_nodes *nodes);
/* Replaces the item of an existing entry. Its tags stay. */
void radix_replace(struct radix *tree, u32 index, void *item);
/* Removes an entry and returns it, or NULL if there was none. Empty nodes go to `nodes`. */
void *radix_remove(struct radix *tree, u32 index, struct radix_nodes *nodes);
/* If the node is empty, moves it to `nodes`, with the nodes above it that become empty. */
void radix_prune(struct radix *tree, struct radix_node *node, struct radix_nodes *nodes);

/* Returns the first entry at or after *index and stores its number there, or NULL if there is
 * none. */
void *radix_next(const struct radix *tree, u32 *index);
void *radix_next_tagged(const struct radix *tree, u32 *index, enum radix_tag tag);

/* Tags of existing entries. */
void radix_set_tag(struct radix *tree, u32 index, enum radix_tag tag);
void radix_clear_tag(struct radix *tree, u32 index, enum radix_tag tag);
bool radix_has_tag(const struct radix *tree, u32 index, enum radix_tag tag);

/* Returns the number of entries, or < 0 if counts or tags are inconsistent. */
int radix_check(const struct radix *tree);

#endif
