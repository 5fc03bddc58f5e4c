/* The tags of entries in radix trees. Theory in lib/radix.h. */
#include "radix_internal.h"

#include "lib/assert.h"

void radix_set_tag(struct radix *tree, u32 index, enum radix_tag tag)
{
	struct radix_node *node = radix_leaf(tree, index);
	u32 slot = slot_of(node, index);

	ASSERT(node->slot[slot]);
	for (; node && !bit_test(node, slot, tag); slot = node->place, node = node->parent)
		bit_set(node, slot, tag);
}

void radix_clear_tag(struct radix *tree, u32 index, enum radix_tag tag)
{
	struct radix_node *leaf = radix_leaf(tree, index);

	if (leaf && bit_test(leaf, slot_of(leaf, index), tag))
		radix_clear_upwards(leaf, slot_of(leaf, index), tag);
}

bool radix_has_tag(const struct radix *tree, u32 index, enum radix_tag tag)
{
	const struct radix_node *leaf = radix_leaf(tree, index);

	return leaf && bit_test(leaf, slot_of(leaf, index), tag);
}

void *radix_next_tagged(const struct radix *tree, u32 *index, enum radix_tag tag)
{
	return radix_walk(tree, index, tag);
}
