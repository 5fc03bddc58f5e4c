/* Tests the library as compiled for the kernel; the thorough tests run on the host. */
#include "lib/ktap.h"
#include "lib/printf.h"
#include "lib/rbtree.h"
#include "lib/string.h"

#define NR_KEYS 128

struct item {
	struct rb_node node;
	u32 key;
	bool present;
};

static struct item items[NR_KEYS];

static void item_insert(struct rb_root *root, struct item *it)
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

KTEST(rbtree_kernel, random_operations_keep_balance_and_order)
{
	struct rb_root root = RB_ROOT;
	u32 rnd = ktap_seed_noted(), i;
	struct rb_node *n;
	int count = 0;

	memset(items, 0, sizeof(items));
	for (i = 0; i < 4000; i++) {
		struct item *it = &items[ktap_random(&rnd) % NR_KEYS];

		it->key = it - items;
		if (it->present)
			rb_erase(&it->node, &root);
		else
			item_insert(&root, it);
		count += it->present ? -1 : 1;
		it->present = !it->present;
		if (i % 200 == 0)
			EXPECT_EQ(rb_check(&root), count);
	}
	for (n = rb_first(&root); n && rb_next(n); n = rb_next(n))
		EXPECT(rb_entry(n, struct item, node)->key <
		       rb_entry(rb_next(n), struct item, node)->key);
}

KTEST(string_kernel, blocks_of_every_size)
{
	static u8 from[64], to[64];
	size_t n, i;

	for (i = 0; i < sizeof(from); i++)
		from[i] = i + 1;
	for (n = 0; n < sizeof(from); n++) {
		memset(to, 0, sizeof(to));
		memcpy(to, from, n);
		EXPECT(!memcmp(to, from, n));
		EXPECT_EQ(to[n], 0);
		memmove(to + 1, to, n);
		EXPECT(!memcmp(to + 1, from, n));
	}
}

KTEST(printf_kernel, arguments_of_every_length)
{
	char buf[80];

	snprintf(buf, sizeof(buf), "%hhd %hd %d %ld %lld %zu %s %c %p", -1, -2, -3, -4l, -5ll,
		 (size_t)6, "seven", '8', (void *)9);
	EXPECT_STREQ(buf, "-1 -2 -3 -4 -5 6 seven 8 0x9");
}
