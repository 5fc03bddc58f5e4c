/*
 * Trees in which a policy keeps its pages: sorted ones (lib/rbtree.h) and bags (lib/bag.h).
 *
 * The page knows from the source which variables may hold a root. The nodes tell whether one does: each lies in the
 * policy's data of a page, and knows its parent or, in a bag, its number.
 */
#include "step.h"

#include "lib/bag.h"
#include "lib/printf.h"
#include "lib/rbtree.h"

enum kind { SORTED, BAG, NR_KINDS };

static const void *child(enum kind kind, const void *node, int side)
{
	const struct rb_node *sorted = node;
	const struct bag_node *drawn = node;

	return kind == SORTED ? (const void *)sorted->rb_child[side] : drawn->child[side];
}

/* Does a node, three words, lie in the policy's data of this page? */
static bool lies_in(const struct page *page, const void *node)
{
	const char *first = (const char *)page->policy;

	return (const char *)node >= first &&
	       (const char *)node + sizeof(struct rb_node) <= first + sizeof(page->policy);
}

/* Returns the number of nodes in this subtree, or -1 if it is not a tree of that kind. `number`: 1 is the root. */
static int count(enum kind kind, const void *node, const void *parent, u32 number)
{
	const struct page *page = node ? beside_page(node) : NULL;
	int left, right;

	if (!node)
		return 0;
	if (!page || !lies_in(page, node))
		return -1;
	if (kind == SORTED ? rb_parent(node) != parent
			   : ((const struct bag_node *)node)->number != number)
		return -1;
	left = count(kind, child(kind, node, 0), node, 2 * number);
	right = count(kind, child(kind, node, 1), node, 2 * number + 1);
	return left < 0 || right < 0 ? -1 : left + 1 + right;
}

/* Prints [page, depth] for each node, from left to right. */
static void print_nodes(enum kind kind, const void *node, u32 depth, u32 *nr)
{
	if (!node)
		return;
	print_nodes(kind, child(kind, node, 0), depth + 1, nr);
	printf("%s[%lld,%u]", (*nr)++ ? "," : "", beside_number(beside_page(node)), depth);
	print_nodes(kind, child(kind, node, 1), depth + 1, nr);
}

/* Both kinds of root begin with a pointer to a node. */
static bool print_tree(enum kind kind, const void *const *root, const char *separator)
{
	u32 nr = 0;

	if (count(kind, *root, NULL, 1) <= 0)
		return false;
	printf("%s\"%#x\":{\"kind\":\"%s\",\"nodes\":[", separator, (u32)(uintptr_t)root,
	       kind == SORTED ? "tree" : "bag");
	print_nodes(kind, *root, 0, &nr);
	fputs("]}", stdout);
	return true;
}

/* Prints {"address of the root":{"kind":...,"nodes":[[page,depth],...]},...}: the trees of a variable. */
__attribute__((export_name("trees"))) const char *step_trees(const void *const *variable, u32 bytes)
{
	const char *text = step_begin(), *separator = "";

	putchar('{');
	for (const void *const *root = variable; bytes >= sizeof(*root);
	     root++, bytes -= sizeof(*root))
		for (enum kind kind = 0; kind < NR_KINDS; kind++)
			if (print_tree(kind, root, separator))
				separator = ",";
	puts("}");
	return text;
}
