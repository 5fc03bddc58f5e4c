/* For tests: are the three properties of a red-black tree kept, and the links to parents (lib/rbtree.c)? */
#include "lib/rbtree.h"

#include "errno.h"

#define MAX_DEPTH 64 /* 2 log2(n + 1) for the largest n */

/* Returns the black height of a subtree, or -EINVAL, and adds its number of nodes to *count. */
static int check_subtree(const struct rb_node *n, const struct rb_node *parent, int depth,
			 int *count)
{
	int left, right;

	if (!n)
		return 0;
	if (rb_parent(n) != parent || depth > MAX_DEPTH || (rb_is_red(n) && rb_is_red(parent)))
		return -EINVAL;
	left = check_subtree(n->rb_left, n, depth + 1, count);
	right = left < 0 ? left : check_subtree(n->rb_right, n, depth + 1, count);
	if (right < 0 || left != right)
		return -EINVAL;
	(*count)++;
	return left + !rb_is_red(n);
}

int rb_check(const struct rb_root *root)
{
	int count = 0;

	if (rb_is_red(root->rb_node) || check_subtree(root->rb_node, NULL, 1, &count) < 0)
		return -EINVAL;
	return count;
}
