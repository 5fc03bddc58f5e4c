/*
 * A bag: items are put in, and one can be drawn at random, each with equal probability.
 *
 * That requires items numbered 1 to nr without a gap, and fast access by number. An array would do,
 * but it must be allocated. Here the items are the nodes of a complete binary tree, numbered row by
 * row as in a heap:
 *
 *	             1               The children of k are 2k and 2k + 1. So the binary digits of a
 *	         /       \           number, after the leading 1, are the path to it: 6 is 110 in
 *	       2           3         binary, which is right, then left.
 *	     /   \       /
 *	   4       5   6             A new item gets the number nr + 1. When an item is removed, the
 *	                             last one takes over its number and its place.
 *
 * The depth is the logarithm of nr: half a million things are 19 steps deep.
 */
#ifndef LIB_BAG_H
#define LIB_BAG_H

#include "lib/mix64.h"
#include "types.h"

struct bag_node {
	struct bag_node *child[2];
	u32 number;
};

struct bag {
	struct bag_node *root;
	u32 nr;
	u64 drawn; /* state of the generator */
};

/* Returns the pointer to the node of that number, 1 to nr. For nr + 1: the place for the next
 * node. */
static inline struct bag_node **bag_place(struct bag *bag, u32 number)
{
	struct bag_node **at = &bag->root;

	for (int bit = 30 - __builtin_clz(number); bit >= 0; bit--)
		at = &(*at)->child[number >> bit & 1];
	return at;
}

static inline void bag_add(struct bag *bag, struct bag_node *node)
{
	*node = (struct bag_node){ .number = ++bag->nr };
	*bag_place(bag, node->number) = node;
}

static inline void bag_remove(struct bag *bag, struct bag_node *node)
{
	struct bag_node **end = bag_place(bag, bag->nr), *last = *end;

	*end = NULL;
	bag->nr--;
	if (last == node)
		return;
	*bag_place(bag, node->number) = last;
	*last = *node; /* copies number and children */
}

/* Returns a number from 1 to nr, which must not be 0. Each seed gives a different sequence. */
static inline u32 bag_draw(struct bag *bag, u32 seed)
{
	bag->drawn += MIX64_STEP;
	return ((mix64(bag->drawn + ((u64)seed << 32)) >> 32) * bag->nr >> 32) + 1;
}

/* Returns the number of nodes, from this place down, that have the right number. */
static inline u32 bag_count(const struct bag *bag, const struct bag_node *node, u32 number)
{
	if (number > bag->nr || !node || node->number != number)
		return 0;
	return 1 + bag_count(bag, node->child[0], 2 * number) +
	       bag_count(bag, node->child[1], 2 * number + 1);
}

/* Returns the number of nodes, or -1 if a node's number does not match its place. */
static inline int bag_check(const struct bag *bag)
{
	return bag_count(bag, bag->root, 1) == bag->nr ? (int)bag->nr : -1;
}

#endif
