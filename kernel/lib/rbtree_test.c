#include "rbtree.c"
#include "rbtree_check.c"
#include "lib/ktap.h"

#define NR_KEYS 512

struct item {
	int key;
	bool present;
	struct rb_node node;
};

static struct item items[NR_KEYS];

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

static void items_init(void)
{
	int i;

	for (i = 0; i < NR_KEYS; i++)
		items[i] = (struct item){ .key = i };
}

/* The tree holds exactly the present items, in order, in both directions. */
static bool matches_model(const struct rb_root *root)
{
	struct rb_node *up = rb_first(root), *down = rb_last(root);
	int i, count = 0;

	for (i = 0; i < NR_KEYS; i++) {
		if (!items[i].present)
			continue;
		if (up != &items[i].node)
			return false;
		up = rb_next(up);
		count++;
	}
	for (i = NR_KEYS - 1; i >= 0; i--) {
		if (!items[i].present)
			continue;
		if (down != &items[i].node)
			return false;
		down = rb_prev(down);
	}
	return !up && !down && rb_check(root) == count;
}

KTEST(rbtree, empty_tree)
{
	struct rb_root root = RB_ROOT;

	EXPECT(RB_EMPTY_ROOT(&root));
	EXPECT_EQ(rb_first(&root), NULL);
	EXPECT_EQ(rb_last(&root), NULL);
	EXPECT_EQ(rb_check(&root), 0);
}

static void fill_and_drain(int step)
{
	struct rb_root root = RB_ROOT;
	int i, key;

	items_init();
	for (i = 0, key = 0; i < NR_KEYS; i++, key = (key + step) % NR_KEYS) {
		insert(&root, &items[key]);
		items[key].present = true;
		EXPECT_EQ(rb_check(&root), i + 1);
	}
	EXPECT(matches_model(&root));
	for (i = 0; i < NR_KEYS; i++, key = (key + step) % NR_KEYS) {
		rb_erase(&items[key].node, &root);
		items[key].present = false;
		EXPECT_EQ(rb_check(&root), NR_KEYS - 1 - i);
	}
	EXPECT(RB_EMPTY_ROOT(&root));
}

KTEST(rbtree, ascending_keys)
{
	fill_and_drain(1);
}

KTEST(rbtree, descending_keys)
{
	fill_and_drain(NR_KEYS - 1);
}

KTEST(rbtree, scattered_keys)
{
	fill_and_drain(199);
}

KTEST(rbtree, equal_keys_stay_in_order_of_insertion)
{
	struct rb_root root = RB_ROOT;
	struct rb_node *n;
	int i;

	for (i = 0; i < 100; i++) {
		items[i].key = 5;
		insert(&root, &items[i]);
	}
	for (i = 0, n = rb_first(&root); i < 100; i++, n = rb_next(n))
		EXPECT_EQ(n, &items[i].node);
	EXPECT_EQ(n, NULL);
}

KTEST(rbtree, random_operations_match_a_bitmap)
{
	struct rb_root root = RB_ROOT;
	u32 rnd = ktap_seed_noted();
	int i;

	items_init();
	for (i = 0; i < 200000; i++) {
		struct item *it = &items[ktap_random(&rnd) % NR_KEYS];

		if (it->present)
			rb_erase(&it->node, &root);
		else
			insert(&root, it);
		it->present = !it->present;
		if (i % 200 == 0 && !matches_model(&root)) {
			ktap_note("operation %d", i);
			EXPECT(matches_model(&root));
			return;
		}
	}
}

KTEST(rbtree, check_finds_damage)
{
	struct rb_root root = RB_ROOT;
	int i;

	items_init();
	for (i = 0; i < 20; i++)
		insert(&root, &items[i]);
	root.rb_node->rb_left->rb_parent_color ^= RB_BLACK;
	EXPECT_EQ(rb_check(&root), -EINVAL);
	root.rb_node->rb_left->rb_parent_color ^= RB_BLACK;
	EXPECT_EQ(rb_check(&root), 20);
	set_parent(rb_first(&root), root.rb_node);
	EXPECT_EQ(rb_check(&root), -EINVAL);
}
