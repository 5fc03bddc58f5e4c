/* Radix trees. Theory in lib/radix.h. */
#include "radix_internal.h"

#include "errno.h"
#include "lib/assert.h"
#include "lib/string.h"

struct radix_node *radix_take(struct radix_nodes *nodes)
{
	struct radix_node *node = nodes->first;

	if (node) {
		nodes->first = node->parent;
		nodes->nr--;
	}
	return node;
}

static inline bool covers(const struct radix_node *root, u32 index)
{
	return index >> root->shift < RADIX_SLOTS;
}

static inline u32 shift_for(u32 index)
{
	u32 shift = 0;

	while (index >> shift >= RADIX_SLOTS)
		shift += RADIX_SHIFT;
	return shift;
}

STATIC_ASSERT(RADIX_SLOTS == 64);

/* Inserting. */

/* Returns the number of missing nodes between the root and the entry. */
static u32 nr_missing(const struct radix *tree, u32 index)
{
	const struct radix_node *node = tree->root;
	u32 shift = shift_for(index);

	if (!node)
		return shift / RADIX_SHIFT + 1;
	if (node->shift < shift) /* new roots above, and a separate branch below the last */
		return (shift - node->shift) / RADIX_SHIFT + shift / RADIX_SHIFT;
	for (shift = node->shift; shift && node; shift -= RADIX_SHIFT)
		node = node->slot[slot_of(node, index)];
	return node ? 0 : shift / RADIX_SHIFT + 1;
}

static struct radix_node *new_node(struct radix_nodes *nodes, u32 shift)
{
	struct radix_node *node = radix_take(nodes);

	memset(node, 0, sizeof(*node));
	node->shift = shift;
	return node;
}

static void link(struct radix_node *parent, u32 slot, struct radix_node *child)
{
	child->parent = parent;
	child->place = slot;
	parent->slot[slot] = child;
	parent->count++;
}

static void grow(struct radix *tree, u32 index, struct radix_nodes *nodes)
{
	if (!tree->root)
		tree->root = new_node(nodes, shift_for(index));
	while (!covers(tree->root, index)) {
		struct radix_node *below = tree->root;

		tree->root = new_node(nodes, below->shift + RADIX_SHIFT);
		link(tree->root, 0, below);
		for (u32 tag = 0; tag < NR_RADIX_TAGS; tag++)
			if (any_tagged(below, tag))
				bit_set(tree->root, 0, tag);
	}
}

int radix_insert(struct radix *tree, u32 index, void *item, struct radix_nodes *nodes)
{
	struct radix_node *node;

	if (!radix_leaf(tree, index)) {
		if (nr_missing(tree, index) > nodes->nr)
			return -ENOMEM;
		grow(tree, index, nodes);
		for (node = tree->root; node->shift; node = node->slot[slot_of(node, index)])
			if (!node->slot[slot_of(node, index)])
				link(node, slot_of(node, index),
				     new_node(nodes, node->shift - RADIX_SHIFT));
	}
	return radix_try_insert(tree, index, item) ? 0 : -EEXIST;
}

void radix_replace(struct radix *tree, u32 index, void *item)
{
	struct radix_node *leaf = radix_leaf(tree, index);

	ASSERT(leaf && leaf->slot[slot_of(leaf, index)] && item);
	leaf->slot[slot_of(leaf, index)] = item;
}

/* Tags. */

static inline void bit_clear(struct radix_node *node, u32 slot, u32 tag)
{
	node->tags[tag][slot / 32] &= ~(1u << slot % 32);
}

void radix_clear_upwards(struct radix_node *node, u32 slot, u32 tag)
{
	bit_clear(node, slot, tag);
	while (!any_tagged(node, tag) && node->parent) {
		slot = node->place;
		node = node->parent;
		bit_clear(node, slot, tag);
	}
}

/* Removing. */

void radix_prune(struct radix *tree, struct radix_node *node, struct radix_nodes *nodes)
{
	struct radix_node *parent;

	for (; node && !node->count; node = parent) {
		parent = node->parent;
		if (parent) {
			parent->slot[node->place] = NULL;
			parent->count--;
		} else {
			tree->root = NULL;
		}
		radix_give(nodes, node);
	}
}

void *radix_remove(struct radix *tree, u32 index, struct radix_nodes *nodes)
{
	struct radix_node *leaf = radix_leaf(tree, index);
	u32 slot = index % RADIX_SLOTS;
	void *item = leaf ? leaf->slot[slot] : NULL;

	if (!item)
		return NULL;
	for (u32 tag = 0; tag < NR_RADIX_TAGS; tag++)
		if (bit_test(leaf, slot, tag))
			radix_clear_upwards(leaf, slot, tag);
	leaf->slot[slot] = NULL;
	leaf->count--;
	radix_prune(tree, leaf, nodes);
	return item;
}

/* Walking. */

/* Returns the first used slot at or after this one, or RADIX_SLOTS if there is none. */
static u32 first_used(const struct radix_node *node, u32 slot)
{
	while (slot < RADIX_SLOTS && !node->slot[slot])
		slot++;
	return slot;
}

/* Returns the first slot with the tag at or after this one, or RADIX_SLOTS if there is none. */
static u32 first_tagged(const struct radix_node *node, u32 slot, u32 tag)
{
	for (; slot < RADIX_SLOTS; slot = ALIGN_UP(slot + 1, 32u)) {
		u32 bits = node->tags[tag][slot / 32] >> slot % 32;

		if (bits)
			return slot + __builtin_ctz(bits);
	}
	return RADIX_SLOTS;
}

/* Returns the next used slot at or after that of *index, and sets *index to its first number, or
 * returns RADIX_SLOTS if there is none. */
static u32 next_slot(const struct radix_node *node, u32 *index, int tag)
{
	u32 first = slot_of(node, *index);
	u32 slot = tag < 0 ? first_used(node, first) : first_tagged(node, first, tag);

	if (slot != first && slot < RADIX_SLOTS)
		*index = ((*index >> node->shift) + (slot - first)) << node->shift;
	return slot;
}

/* Moves *index behind everything below node. Returns false if there are no more numbers. */
static bool skip(const struct radix_node *node, u32 *index)
{
	u32 shift = node->shift + RADIX_SHIFT;

	if (shift >= 32)
		return false;
	*index = ((*index >> shift) + 1) << shift;
	return *index;
}

void *radix_walk(const struct radix *tree, u32 *index, int tag)
{
	const struct radix_node *node = tree->root;

	if (!node || !covers(node, *index))
		return NULL;
	for (;;) {
		u32 slot = next_slot(node, index, tag);

		if (slot == RADIX_SLOTS) {
			if (!node->parent || !skip(node, index))
				return NULL;
			node = node->parent;
			while (node->parent && !slot_of(node, *index)) /* a carry */
				node = node->parent;
			if (!node->parent && !covers(node, *index))
				return NULL;
		} else if (node->shift) {
			node = node->slot[slot];
		} else {
			return node->slot[slot];
		}
	}
}

void *radix_next(const struct radix *tree, u32 *index)
{
	return radix_walk(tree, index, -1);
}
