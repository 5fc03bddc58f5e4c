/*
 * Interval trees: which of many intervals of numbers overlap a given one? Theory in lib/interval.c.
 *
 * A node is embedded in each object. The order is by first number; among intervals with the same first number,
 * by time of insertion. The tree never allocates.
 */
#ifndef LIB_INTERVAL_H
#define LIB_INTERVAL_H

#include "lib/rbtree.h"

struct interval {
	struct rb_node rb;
	u32 first, last; /* both belong to it: first <= last */
	u32 max;         /* the largest `last` in its subtree */
};

void interval_insert(struct interval *i, struct rb_root *root);
void interval_erase(struct interval *i, struct rb_root *root);
/* Moves the end of an interval that is in a tree. */
void interval_set_last(struct interval *i, u32 last);

/* Return the first interval, in order, that overlaps [first, last], and the next one after i; NULL: none. */
struct interval *interval_first(const struct rb_root *root, u32 first, u32 last);
struct interval *interval_next(struct interval *i, u32 first, u32 last);

/* The tree must not change meanwhile. */
#define for_each_interval(i, root, first, last)                                                    \
	for ((i) = interval_first(root, first, last); (i); (i) = interval_next(i, first, last))

#endif
