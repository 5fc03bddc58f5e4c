/*
 * Red-black trees, with the interface of Linux's rbtree.h. Theory in lib/rbtree.c.
 *
 * The tree neither compares nor allocates: a node is embedded in each sorted object. To insert, the
 * caller walks down from root->rb_node with its own comparison, keeps the parent and the address of
 * the empty child pointer, and then calls rb_link_node and rb_insert_color:
 *
 *	while (*link) {
 *		parent = *link;
 *		link = key < rb_entry(parent, struct thing, node)->key ? &parent->rb_left
 *								       : &parent->rb_right;
 *	}
 *	rb_link_node(&t->node, parent, link);
 *	rb_insert_color(&t->node, &root);
 */
#ifndef LIB_RBTREE_H
#define LIB_RBTREE_H

#include "types.h"

enum rb_color { RB_RED, RB_BLACK };

struct rb_node {
	uintptr_t rb_parent_color; /* parent's address; colour in bit 0 */
	union {
		struct {
			struct rb_node *rb_left, *rb_right;
		};
		struct rb_node *rb_child[2]; /* both, for code that treats the sides alike */
	};
} __attribute__((aligned(sizeof(long))));

struct rb_root {
	struct rb_node *rb_node;
};

#define RB_ROOT ((struct rb_root){ NULL })
#define rb_entry(ptr, type, member) container_of(ptr, type, member)

static inline struct rb_node *rb_parent(const struct rb_node *n)
{
	return (struct rb_node *)(n->rb_parent_color & ~(uintptr_t)1);
}

/* NULL, an empty place, is black. */
static inline bool rb_is_red(const struct rb_node *n)
{
	return n && !(n->rb_parent_color & RB_BLACK);
}

#define RB_EMPTY_ROOT(root) (!(root)->rb_node)

/* Links n, red, at the empty child pointer *link of parent (NULL: n becomes the root). */
static inline void rb_link_node(struct rb_node *n, struct rb_node *parent, struct rb_node **link)
{
	n->rb_parent_color = (uintptr_t)parent | RB_RED;
	n->rb_left = NULL;
	n->rb_right = NULL;
	*link = n;
}

/* Rebalances the tree after rb_link_node. */
void rb_insert_color(struct rb_node *n, struct rb_root *root);
/* Removes n. The links in n are stale afterwards. */
void rb_erase(struct rb_node *n, struct rb_root *root);

/* The same two for a tree whose nodes store a summary of their subtrees. `rotated` is called after each rotation:
 * `down` is now a child of `up`, which has the subtree that `down` had. */
typedef void rb_rotated(struct rb_node *down, struct rb_node *up);
void rb_insert_rotated(struct rb_node *n, struct rb_root *root, rb_rotated *rotated);
void rb_erase_rotated(struct rb_node *n, struct rb_root *root, rb_rotated *rotated);

/* Walk in key order. Return NULL at the end. */
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_last(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *n);
struct rb_node *rb_prev(const struct rb_node *n);

/* rbtree_check.c: returns the number of nodes, or -EINVAL if a colour, a black height or a parent link is wrong. */
int rb_check(const struct rb_root *root);

#endif
