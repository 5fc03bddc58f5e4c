/* For the files that know a radix tree's nodes. */
#ifndef LIB_RADIX_INTERNAL_H
#define LIB_RADIX_INTERNAL_H

#include "lib/radix.h"

static inline u32 slot_of(const struct radix_node *node, u32 index)
{
	return index >> node->shift & (RADIX_SLOTS - 1);
}

/* Tags of one node. */

static inline bool bit_test(const struct radix_node *node, u32 slot, u32 tag)
{
	return node->tags[tag][slot / 32] >> slot % 32 & 1;
}

static inline void bit_set(struct radix_node *node, u32 slot, u32 tag)
{
	node->tags[tag][slot / 32] |= 1u << slot % 32;
}

static inline bool any_tagged(const struct radix_node *node, u32 tag)
{
	return node->tags[tag][0] | node->tags[tag][1];
}

/* radix.c. Clears the tag of a slot, and above it wherever no other entry has the tag. */
void radix_clear_upwards(struct radix_node *node, u32 slot, u32 tag);
/* radix_next, or with a tag that is not negative, radix_next_tagged. */
void *radix_walk(const struct radix *tree, u32 *index, int tag);

#endif
