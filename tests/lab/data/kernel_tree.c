/* Inserts the keys of each line of its input into a tree of the kernel, and prints it in order: key,red,parent ... */
#include "lib/rbtree.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_KEYS = 1000, MAX_LINE = 16 * MAX_KEYS };

struct item {
	long key;
	struct rb_node node;
};

static void insert(struct rb_root *root, struct item *it)
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = it->key < rb_entry(parent, struct item, node)->key ? &parent->rb_left
									  : &parent->rb_right;
	}
	rb_link_node(&it->node, parent, link);
	rb_insert_color(&it->node, root);
}

static void print(const struct rb_root *root)
{
	for (struct rb_node *n = rb_first(root); n; n = rb_next(n)) {
		struct rb_node *parent = rb_parent(n);

		printf("%ld,%d,%ld ", rb_entry(n, struct item, node)->key, rb_is_red(n),
		       parent ? rb_entry(parent, struct item, node)->key : -1);
	}
	puts("");
}

int main(void)
{
	static struct item items[MAX_KEYS];
	static char line[MAX_LINE];

	while (fgets(line, sizeof(line), stdin)) {
		struct rb_root root = RB_ROOT;
		char *at = line, *end;
		int nr = 0;

		for (long key; key = strtol(at, &end, 10), end != at; at = end) {
			items[nr].key = key;
			insert(&root, &items[nr++]);
		}
		print(&root);
	}
	return 0;
}
