/*
 * A radix tree: from a number of 32 bits to a pointer, with marks on the entries.
 *
 * Each level decides six bits of the number; the tree is as high as its largest number needs, so
 * small ones are found in one step. A mark (tag) of an entry is noted in every node above it, so that
 * the next marked entry is found without looking at the others.
 *
 * The tree allocates nothing: whoever inserts brings nodes along, and gets those that are not
 * needed. So a change is over without sleeping, and can be made with interrupts off.
 */
#ifndef LIB_RADIX_H
#define LIB_RADIX_H

#include "types.h"

#define RADIX_SHIFT 6
#define RADIX_SLOTS (1u << RADIX_SHIFT)

enum radix_tag { RADIX_DIRTY, RADIX_WRITEBACK, NR_RADIX_TAGS };

struct radix_node {
	struct radix_node *parent; /* in struct radix_nodes: the next one */
	u8 shift;    /* of the number, for this level; 0: the slots hold entries */
	u8 place;    /* in the parent's slots */
	u8 count;    /* slots in use */
	void *slot[RADIX_SLOTS];
	u32 tags[NR_RADIX_TAGS][RADIX_SLOTS / 32]; /* a bit for each slot */
};

struct radix {
	struct radix_node *root; /* NULL: empty */
};

/* Nodes that are in no tree. */
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

struct radix_node *radix_take(struct radix_nodes *nodes); /* NULL: there is none */

/* The node that the entry is in, with those of the aligned group of RADIX_SLOTS numbers; or NULL. */
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

/* The entry, or NULL. */
static inline void *radix_find(const struct radix *tree, u32 index)
{
	const struct radix_node *leaf = radix_leaf(tree, index);

	return leaf ? leaf->slot[index & (RADIX_SLOTS - 1)] : NULL;
}

/* Inserts where no node is missing and nothing is there; false: it is not so. */
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

/* 0, -EEXIST, or -ENOMEM: one node more is needed; then nothing has changed. */
int radix_insert(struct radix *tree, u32 index, void *item, struct radix_nodes *nodes);
/* Puts another item in the place of an entry, which must be there; its tags stay. */
void radix_replace(struct radix *tree, u32 index, void *item);
/* Takes an entry out; NULL: it was not there. Nodes that are empty now go to nodes. */
void *radix_remove(struct radix *tree, u32 index, struct radix_nodes *nodes);
/* A node may have become empty: then it goes to nodes, with those above it that become so. */
void radix_prune(struct radix *tree, struct radix_node *node, struct radix_nodes *nodes);

/* The first entry at or after *index, which becomes its number; NULL: there is none. */
void *radix_next(const struct radix *tree, u32 *index);
void *radix_next_tagged(const struct radix *tree, u32 *index, enum radix_tag tag);

/* Tags of entries that are there. */
void radix_set_tag(struct radix *tree, u32 index, enum radix_tag tag);
void radix_clear_tag(struct radix *tree, u32 index, enum radix_tag tag);
bool radix_has_tag(const struct radix *tree, u32 index, enum radix_tag tag);

/* Entries, or < 0 when counts or tags contradict each other. */
int radix_check(const struct radix *tree);

#endif
