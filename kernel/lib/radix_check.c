/* Is a radix tree sound? For tests. */
#include "radix_internal.h"

#include "errno.h"

#define MAX_SHIFT 30 /* of the highest root: it has 5 levels of 6 bits below */

static int check_node(const struct radix_node *node)
{
	int entries = 0, below, used = 0;

	for (u32 slot = 0; slot < RADIX_SLOTS; slot++) {
		const struct radix_node *child = node->slot[slot];

		for (u32 tag = 0; tag < NR_RADIX_TAGS; tag++)
			if (bit_test(node, slot, tag) !=
			    (node->shift && child ? any_tagged(child, tag)
						  : child && bit_test(node, slot, tag)))
				return -EINVAL;
		if (!child)
			continue;
		used++;
		if (!node->shift) {
			entries++;
			continue;
		}
		if (child->parent != node || child->place != slot ||
		    child->shift + RADIX_SHIFT != node->shift)
			return -EINVAL;
		below = check_node(child);
		if (below <= 0)
			return -EINVAL;
		entries += below;
	}
	return used == node->count ? entries : -EINVAL;
}

int radix_check(const struct radix *tree)
{
	if (!tree->root)
		return 0;
	return tree->root->parent || tree->root->shift > MAX_SHIFT ? -EINVAL
								   : check_node(tree->root);
}
