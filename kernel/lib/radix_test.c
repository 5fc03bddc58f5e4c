/* Compares radix trees with an array that is searched linearly. */
#include "radix.c"
#include "radix_check.c"
#include "radix_tags.c"
#include "lib/ktap.h"
#include <stdlib.h>

enum { NR = 600, SPAN = 200 };

static struct {
	u32 index;
	void *item; /* NULL: not in the tree */
	bool tagged[NR_RADIX_TAGS];
} model[NR]; /* by index */

static struct radix tree;
static u32 seed;
static int nr_nodes; /* in the tree */

static int by_index(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Fills the model with numbers: consecutive ones from 0, some in the middle, some at the end of the
 * range. */
static void begin(void)
{
	seed = ktap_seed_noted();
	memset(model, 0, sizeof(model));
	for (u32 i = 0; i < NR; i++)
		model[i].index = i < SPAN ? i
				 : i < 2 * SPAN
					 ? 60000 + 37 * i
					 : 0xFFFFFFFFu - (i - 2 * SPAN) * (i % 3 ? 1 : 70001);
	qsort(model, NR, sizeof(model[0]), by_index);
	for (u32 i = 1; i < NR; i++)
		if (model[i].index == model[i - 1].index)
			model[i].index++;
	qsort(model, NR, sizeof(model[0]), by_index);
	tree = (struct radix){ 0 };
	nr_nodes = 0;
}

static void free_nodes(struct radix_nodes *nodes)
{
	struct radix_node *node;

	while ((node = radix_take(nodes)))
		free(node);
}

/* Supplies one more node until there are enough, as the page cache does. */
static int insert(u32 index, void *item)
{
	struct radix_nodes nodes = { 0 };
	int err, gave = 0;

	while ((err = radix_insert(&tree, index, item, &nodes)) == -ENOMEM) {
		radix_give(&nodes, malloc(sizeof(struct radix_node)));
		gave++;
	}
	nr_nodes += gave - (int)nodes.nr;
	EXPECT_EQ(nodes.nr, 0);
	free_nodes(&nodes);
	return err;
}

static void *take_out(u32 index)
{
	struct radix_nodes nodes = { 0 };
	void *item = radix_remove(&tree, index, &nodes);

	nr_nodes -= nodes.nr;
	free_nodes(&nodes);
	return item;
}

/* Finds the next entry (tag < 0: with or without tags) from number i of the model on, and
 * compares. */
static void expect_next(u32 i, int tag)
{
	u32 from = model[i].index, at = from;
	void *item = tag < 0 ? radix_next(&tree, &at) : radix_next_tagged(&tree, &at, tag);

	while (i < NR && !(model[i].item && (tag < 0 || model[i].tagged[tag])))
		i++;
	EXPECT_EQ(item, i < NR ? model[i].item : NULL);
	if (i < NR)
		EXPECT_EQ(at, model[i].index);
}

static void change(u32 i, u32 what)
{
	u32 index = model[i].index, tag = what & 1;

	if (!model[i].item) {
		model[i].item = &model[i];
		EXPECT_EQ(insert(index, &model[i]), 0);
	} else if (what < 4) {
		EXPECT_EQ(insert(index, &seed), -EEXIST);
		EXPECT_EQ(take_out(index), model[i].item);
		model[i].item = NULL;
		model[i].tagged[0] = model[i].tagged[1] = false;
	} else if (what < 9) {
		radix_set_tag(&tree, index, tag);
		model[i].tagged[tag] = true;
	} else if (what < 13) {
		radix_clear_tag(&tree, index, tag);
		model[i].tagged[tag] = false;
	} else {
		model[i].item = (char *)&model[i] + what % 4;
		radix_replace(&tree, index, model[i].item);
	}
}

KTEST(radix, is_as_an_array_is)
{
	begin();
	for (u32 op = 0; op < 60000; op++) {
		u32 i = ktap_random(&seed) % NR, tag = op % NR_RADIX_TAGS;
		int entries = 0;

		/* by turns mostly present and mostly absent */
		if (model[i].item ? op % 20000 < 12000 || op % 3 == 0 : op % 20000 < 12000)
			change(i, ktap_random(&seed) % (op % 20000 < 12000 ? 16 : 4));
		i = ktap_random(&seed) % NR;
		EXPECT_EQ(radix_find(&tree, model[i].index), model[i].item);
		EXPECT_EQ(radix_has_tag(&tree, model[i].index, tag), model[i].tagged[tag]);
		expect_next(i, -1);
		expect_next(i, tag);
		if (op % 500)
			continue;
		for (u32 j = 0; j < NR; j++)
			entries += !!model[j].item;
		EXPECT_EQ(radix_check(&tree), entries);
	}
	for (u32 i = 0; i < NR; i++)
		take_out(model[i].index);
	EXPECT(!tree.root);
	EXPECT_EQ(nr_nodes, 0);
}

KTEST(radix, without_nodes_nothing_changes)
{
	struct radix_nodes none = { 0 };
	u32 at = 0;

	begin();
	EXPECT_EQ(radix_insert(&tree, 5, &seed, &none), -ENOMEM);
	EXPECT(!tree.root);
	EXPECT_EQ(insert(5, &seed), 0);
	EXPECT_EQ(radix_insert(&tree, 1u << 31, &seed, &none), -ENOMEM);
	EXPECT_EQ(radix_check(&tree), 1);
	EXPECT_EQ(radix_insert(&tree, 6, &seed, &none), 0);
	EXPECT(radix_next(&tree, &at) == &seed && at == 5);
	take_out(5);
	take_out(6);
	EXPECT(!tree.root);
}
