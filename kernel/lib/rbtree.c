/*
 * Red-black trees.
 *
 * Problem: a sorted set with insertion, deletion and ordered walks in O(log n) worst case, for the
 * runnable tasks (by virtual run time) and for the regions of an address space (by address).
 *
 * A red-black tree is a binary search tree whose nodes are red or black, such that
 *	1. the root is black, and so is every empty place below the nodes,
 *	2. a red node has no red child,
 *	3. every path from the root down to an empty place passes the same number of black nodes,
 *	   the black height.
 * By 3 the shortest path has only black nodes and by 2 the longest at most alternates, so the
 * tree is never deeper than 2 log2(n + 1).
 *
 * Insertion links a red leaf into the tree, which preserves 3 but may violate 2 between it and its
 * parent. With a red uncle, recolouring moves the conflict two levels up; otherwise one or two
 * rotations resolve it. Deletion of a black node leaves one path short of a black node. Recolouring
 * the sibling moves that shortage one level up; one to three rotations resolve it. Both loops treat
 * left and right alike: `side` is the index of the child in question, 0 or 1.
 *
 * The colour is bit 0 of the parent's address. The empty places are NULL. Since the shortage may be
 * at NULL, its parent is passed along. Only the callers know the sort key of the nodes; they also
 * do the locking.
 *
 * Some trees store in each node a summary of its subtree (lib/interval.c). A rotation changes the subtrees of two
 * nodes, so a function of such a tree is called after each. It is a constant in functions that are inlined: other
 * trees have code without it.
 *
 * Source: Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, chapter 13.
 */
#include "lib/rbtree.h"

#define INLINE static inline __attribute__((always_inline))

static inline void set_red(struct rb_node *n)
{
	n->rb_parent_color &= ~(uintptr_t)RB_BLACK;
}

static inline void set_black(struct rb_node *n)
{
	n->rb_parent_color |= RB_BLACK;
}

static inline void set_parent(struct rb_node *n, struct rb_node *parent)
{
	n->rb_parent_color = (uintptr_t)parent | (n->rb_parent_color & RB_BLACK);
}

/* Makes the pointer to old point to new, which may be NULL. */
static inline void replace_child(struct rb_root *root, struct rb_node *parent,
				 const struct rb_node *old, struct rb_node *new)
{
	if (!parent)
		root->rb_node = new;
	else
		parent->rb_child[parent->rb_right == old] = new;
}

/* Moves n down to the given side; its other child takes its place. */
INLINE void rotate(struct rb_node *n, int side, struct rb_root *root, rb_rotated *rotated)
{
	struct rb_node *up = n->rb_child[!side], *middle = up->rb_child[side];

	n->rb_child[!side] = middle;
	if (middle)
		set_parent(middle, n);
	set_parent(up, rb_parent(n));
	replace_child(root, rb_parent(n), n, up);
	up->rb_child[side] = n;
	set_parent(n, up);
	if (rotated)
		rotated(n, up);
}

INLINE void insert_color(struct rb_node *n, struct rb_root *root, rb_rotated *rotated)
{
	struct rb_node *parent, *grand, *uncle;
	int side;

	while ((parent = rb_parent(n)) && rb_is_red(parent)) {
		grand = rb_parent(parent); /* exists: a red node is not the root */
		side = grand->rb_right == parent;
		uncle = grand->rb_child[!side];
		if (rb_is_red(uncle)) {
			set_black(uncle);
			set_black(parent);
			set_red(grand);
			n = grand;
			continue;
		}
		if (parent->rb_child[!side] == n) {
			rotate(parent, side, root, rotated);
			parent = n;
		}
		set_black(parent);
		set_red(grand);
		rotate(grand, !side, root, rotated);
		return;
	}
	if (!parent)
		set_black(n);
}

void rb_insert_color(struct rb_node *n, struct rb_root *root)
{
	insert_color(n, root, NULL);
}

void rb_insert_rotated(struct rb_node *n, struct rb_root *root, rb_rotated *rotated)
{
	insert_color(n, root, rotated);
}

/* Repairs a tree in which the paths through n, a child of parent and possibly NULL, lack one black
 * node. */
INLINE void repair_shortage(struct rb_node *n, struct rb_node *parent, struct rb_root *root,
			    rb_rotated *rotated)
{
	struct rb_node *sibling, *near;
	int side;

	while (parent && !rb_is_red(n)) {
		side = parent->rb_right == n;
		sibling = parent->rb_child[!side]; /* exists: its paths are longer */
		if (rb_is_red(sibling)) {
			set_black(sibling);
			set_red(parent);
			rotate(parent, side, root, rotated);
			sibling = parent->rb_child[!side];
		}
		near = sibling->rb_child[side];
		if (!rb_is_red(near) && !rb_is_red(sibling->rb_child[!side])) {
			set_red(sibling);
			n = parent;
			parent = rb_parent(n);
			continue;
		}
		if (!rb_is_red(sibling->rb_child[!side])) {
			rotate(sibling, !side, root, rotated);
			sibling = near;
		}
		sibling->rb_parent_color = (uintptr_t)rb_parent(sibling) |
					   (parent->rb_parent_color & RB_BLACK);
		set_black(parent);
		set_black(sibling->rb_child[!side]);
		rotate(parent, side, root, rotated);
		return;
	}
	if (n)
		set_black(n);
}

/*
 * n has two children, so its successor has no left child and can move to the place of n, with n's
 * colour. Returns the parent of the place that became empty; *child is its new content.
 */
static struct rb_node *replace_by_successor(struct rb_node *n, struct rb_root *root,
					    struct rb_node **child, bool *black)
{
	struct rb_node *s = n->rb_right, *parent;

	while (s->rb_left)
		s = s->rb_left;
	*child = s->rb_right;
	*black = !rb_is_red(s);
	parent = rb_parent(s);
	if (parent == n) {
		parent = s;
	} else {
		parent->rb_left = *child;
		if (*child)
			set_parent(*child, parent);
		s->rb_right = n->rb_right;
		set_parent(n->rb_right, s);
	}
	s->rb_left = n->rb_left;
	set_parent(n->rb_left, s);
	s->rb_parent_color = n->rb_parent_color;
	replace_child(root, rb_parent(n), n, s);
	return parent;
}

INLINE void erase(struct rb_node *n, struct rb_root *root, rb_rotated *rotated)
{
	struct rb_node *child, *parent;
	bool black;

	if (n->rb_left && n->rb_right) {
		parent = replace_by_successor(n, root, &child, &black);
	} else {
		child = n->rb_left ? n->rb_left : n->rb_right;
		parent = rb_parent(n);
		black = !rb_is_red(n);
		if (child)
			set_parent(child, parent);
		replace_child(root, parent, n, child);
	}
	if (black)
		repair_shortage(child, parent, root, rotated);
}

void rb_erase(struct rb_node *n, struct rb_root *root)
{
	erase(n, root, NULL);
}

void rb_erase_rotated(struct rb_node *n, struct rb_root *root, rb_rotated *rotated)
{
	erase(n, root, rotated);
}

/* Returns the last node on the way down along one side. */
static struct rb_node *outermost(struct rb_node *n, int side)
{
	while (n && n->rb_child[side])
		n = n->rb_child[side];
	return n;
}

struct rb_node *rb_first(const struct rb_root *root)
{
	return outermost(root->rb_node, 0);
}

struct rb_node *rb_last(const struct rb_root *root)
{
	return outermost(root->rb_node, 1);
}

/* Returns the neighbour in key order: in the subtree on that side, or the first ancestor beyond
 * n. */
static struct rb_node *neighbour(const struct rb_node *n, int side)
{
	struct rb_node *parent;

	if (n->rb_child[side])
		return outermost(n->rb_child[side], !side);
	while ((parent = rb_parent(n)) && parent->rb_child[side] == n)
		n = parent;
	return parent;
}

struct rb_node *rb_next(const struct rb_node *n)
{
	return neighbour(n, 1);
}

struct rb_node *rb_prev(const struct rb_node *n)
{
	return neighbour(n, 0);
}
