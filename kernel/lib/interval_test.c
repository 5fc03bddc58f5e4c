#include "interval.c"
#include "rbtree.c"
#include "rbtree_check.c"
#include "lib/ktap.h"

#define NR_ITEMS 300
#define RANGE 1000u
#define STEPS 20000
#define SEED 88172645u

struct item {
	struct interval in;
	bool present;
	u32 inserted; /* when */
};

static struct item items[NR_ITEMS];
static struct rb_root root;
static u32 seed, now;

static u32 draw(u32 below)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % below;
}

static void start(void)
{
	root = RB_ROOT;
	seed = SEED;
	now = 0;
	for (u32 i = 0; i < NR_ITEMS; i++)
		items[i].present = false;
}

static void add(struct item *it, u32 first, u32 last)
{
	it->in.first = first;
	it->in.last = last;
	it->present = true;
	it->inserted = now++;
	interval_insert(&it->in, &root);
}

static bool comes_before(const struct item *a, const struct item *b)
{
	return a->in.first != b->in.first ? a->in.first < b->in.first : a->inserted < b->inserted;
}

/* The linear model: the first item after `after` that overlaps [first, last]. */
static struct item *model_next(const struct item *after, u32 first, u32 last)
{
	struct item *best = NULL;

	for (struct item *it = items; it < items + NR_ITEMS; it++) {
		if (!it->present || it->in.first > last || it->in.last < first)
			continue;
		if (after && !comes_before(after, it))
			continue;
		if (!best || comes_before(it, best))
			best = it;
	}
	return best;
}

/* Do tree and model find the same items in the same order? */
static bool finds_the_same(u32 first, u32 last)
{
	struct item *expected = model_next(NULL, first, last);
	struct interval *i;

	for_each_interval(i, &root, first, last) {
		if (!expected || i != &expected->in)
			return false;
		expected = model_next(expected, first, last);
	}
	return !expected;
}

static u32 nr_present(void)
{
	u32 nr = 0;

	for (u32 i = 0; i < NR_ITEMS; i++)
		nr += items[i].present;
	return nr;
}

static void change(struct item *it)
{
	u32 first = draw(RANGE), length = draw(4) ? draw(8) : draw(RANGE);

	if (!it->present) {
		add(it, draw(4) ? first : first % 16, RANGE);
		interval_set_last(&it->in, it->in.first + length);
	} else if (draw(2)) {
		interval_erase(&it->in, &root);
		it->present = false;
	} else {
		interval_set_last(&it->in, it->in.first + length);
	}
}

/* Returns the number of intervals, or -EINVAL if the order, a `max` or the tree is wrong. */
static int interval_check(const struct rb_root *root)
{
	u32 before = 0;

	for (struct rb_node *n = rb_first(root); n; n = rb_next(n)) {
		if (of(n)->first < before || of(n)->first > of(n)->last || of(n)->max != max_of(n))
			return -EINVAL;
		before = of(n)->first;
	}
	return rb_check(root);
}

KTEST(interval, empty_tree_finds_nothing)
{
	start();
	EXPECT(!interval_first(&root, 0, ~0u));
	EXPECT_EQ(interval_check(&root), 0);
}

KTEST(interval, ends_belong_to_the_interval)
{
	start();
	add(&items[0], 5, 7);
	EXPECT(!interval_first(&root, 0, 4));
	EXPECT(interval_first(&root, 0, 5) == &items[0].in);
	EXPECT(interval_first(&root, 7, 9) == &items[0].in);
	EXPECT(!interval_first(&root, 8, ~0u));
}

KTEST(interval, equal_intervals_come_in_order_of_insertion)
{
	struct interval *i;
	u32 nr = 0;

	start();
	for (u32 k = 0; k < NR_ITEMS; k++)
		add(&items[k], 9, 9 + k % 3);
	for_each_interval(i, &root, 9, 9)
		EXPECT(i == &items[nr++].in);
	EXPECT_EQ(nr, NR_ITEMS);
}

KTEST(interval, largest_numbers)
{
	start();
	add(&items[0], ~0u, ~0u);
	add(&items[1], 0, ~0u);
	EXPECT(finds_the_same(~0u, ~0u));
	EXPECT(finds_the_same(0, 0));
}

KTEST(interval, agrees_with_a_linear_model)
{
	start();
	ktap_note("seed %u", SEED);
	for (u32 step = 0; step < STEPS; step++) {
		u32 first = draw(RANGE);

		change(&items[draw(NR_ITEMS)]);
		EXPECT(finds_the_same(first, first + (draw(2) ? 0 : draw(50))));
		if (step % 100 == 0)
			EXPECT_EQ(interval_check(&root), (int)nr_present());
	}
}
