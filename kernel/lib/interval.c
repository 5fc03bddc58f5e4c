/*
 * Interval trees (Cormen et al., Introduction to Algorithms, 14.3): a red-black tree ordered by the first
 * number of each interval. Each node also knows the largest last number in its subtree.
 *
 *	          [4,9] max 20
 *	         /            \
 *	   [1,2] max 3     [7,20] max 20        what overlaps [5,6]?  not [1,2] and below: max 3 < 5;
 *	        \           /                   [4,9]; not [7,20]: 7 > 6
 *	      [2,3]     [6,6]                   and [6,6]
 *
 * A search for [a, b] skips a subtree whose max is below a, and everything to the right of a node that begins
 * after b. So it visits O(log n) nodes for each interval that it finds.
 *
 * An insertion raises max on its way down. After a removal, max is computed again on the way from there to the
 * root, from the bottom up. Rotations concern two nodes each.
 */
#include "lib/interval.h"

static struct interval *of(struct rb_node *n)
{
	return rb_entry(n, struct interval, rb);
}

static u32 max_of(struct rb_node *n)
{
	u32 max = of(n)->last;

	for (int side = 0; side < 2; side++)
		if (n->rb_child[side] && of(n->rb_child[side])->max > max)
			max = of(n->rb_child[side])->max;
	return max;
}

static void update_up(struct rb_node *n)
{
	for (; n; n = rb_parent(n))
		of(n)->max = max_of(n);
}

static void rotated(struct rb_node *down, struct rb_node *up)
{
	of(up)->max = of(down)->max;
	of(down)->max = max_of(down);
}

void interval_insert(struct interval *i, struct rb_root *root)
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		if (of(parent)->max < i->last)
			of(parent)->max = i->last;
		link = i->first < of(parent)->first ? &parent->rb_left : &parent->rb_right;
	}
	i->max = i->last;
	rb_link_node(&i->rb, parent, link);
	rb_insert_rotated(&i->rb, root, rotated);
}

void interval_erase(struct interval *i, struct rb_root *root)
{
	struct rb_node *n = &i->rb, *lowest = rb_parent(n);

	if (n->rb_left && n->rb_right) { /* the next node takes its place */
		lowest = rb_next(n);
		if (rb_parent(lowest) != n)
			lowest = rb_parent(lowest);
	}
	rb_erase_rotated(n, root, rotated);
	update_up(lowest); /* rotations meanwhile used values that are too large, all on this way */
}

void interval_set_last(struct interval *i, u32 last)
{
	i->last = last;
	update_up(&i->rb);
}

/* The first interval of the subtree that overlaps [first, last]; max says whether one ends late enough. */
static struct interval *find(struct rb_node *n, u32 first, u32 last)
{
	while (n && of(n)->max >= first) {
		if (n->rb_left && of(n->rb_left)->max >= first)
			n = n->rb_left;
		else if (of(n)->first > last)
			return NULL;
		else if (of(n)->last >= first)
			return of(n);
		else
			n = n->rb_right;
	}
	return NULL;
}

struct interval *interval_first(const struct rb_root *root, u32 first, u32 last)
{
	return find(root->rb_node, first, last);
}

struct interval *interval_next(struct interval *i, u32 first, u32 last)
{
	struct rb_node *n = &i->rb, *child;

	do {
		struct interval *found = find(n->rb_right, first, last);

		if (found)
			return found;
		do {
			child = n;
			n = rb_parent(n);
		} while (n && n->rb_right == child);
		if (!n || of(n)->first > last)
			return NULL;
	} while (of(n)->last < first);
	return of(n);
}
