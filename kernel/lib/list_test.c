#include "lib/list.h"
#include "lib/ktap.h"

#define NR_ITEMS 32

struct item {
	int id;
	struct list_head link;
};

static void items_init(struct item *items, struct list_head *head, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		items[i].id = i;
		list_add_tail(&items[i].link, head);
	}
}

/* Does the list hold exactly these ids, forwards and backwards? */
static bool list_is(struct list_head *head, const int *ids, int nr)
{
	struct item *it;
	int n = 0;

	list_for_each_entry(it, head, link)
		if (n >= nr || it->id != ids[n++])
			return false;
	if (n != nr)
		return false;
	list_for_each_entry_reverse(it, head, link)
		if (it->id != ids[--n])
			return false;
	return true;
}

KTEST(list, add_and_del_keep_order)
{
	LIST_HEAD(head);
	struct item items[4];

	EXPECT(list_empty(&head));
	items_init(items, &head, 3);
	items[3].id = 3;
	list_add(&items[3].link, &head);
	EXPECT(list_is(&head, (int[]){ 3, 0, 1, 2 }, 4));
	list_del(&items[0].link);
	EXPECT_EQ(items[0].link.next, LIST_POISON_NEXT);
	EXPECT_EQ(items[0].link.prev, LIST_POISON_PREV);
	EXPECT(list_is(&head, (int[]){ 3, 1, 2 }, 3));
	list_del_init(&items[2].link);
	EXPECT(list_empty(&items[2].link));
	EXPECT(list_is_last(&items[1].link, &head));
	EXPECT_EQ(list_first_entry(&head, struct item, link)->id, 3);
	EXPECT_EQ(list_last_entry(&head, struct item, link)->id, 1);
}

KTEST(list, move_between_lists)
{
	LIST_HEAD(a);
	LIST_HEAD(b);
	struct item items[3];

	items_init(items, &a, 3);
	list_move(&items[1].link, &b);
	list_move(&items[2].link, &b);
	list_move_tail(&items[0].link, &b);
	EXPECT(list_empty(&a));
	EXPECT(list_is(&b, (int[]){ 2, 1, 0 }, 3));
	EXPECT_EQ(list_first_entry_or_null(&a, struct item, link), NULL);
}

KTEST(list, splice_in_front_and_behind)
{
	LIST_HEAD(a);
	LIST_HEAD(b);
	struct item items[2], more[2];

	list_splice_init(&b, &a);
	EXPECT(list_empty(&a));
	items_init(items, &a, 2);
	items_init(more, &b, 2);
	more[0].id = 7;
	more[1].id = 8;
	list_splice_init(&b, &a);
	EXPECT(list_empty(&b));
	EXPECT(list_is(&a, (int[]){ 7, 8, 0, 1 }, 4));
	list_splice_tail_init(&a, &b);
	list_move(&items[1].link, &a);
	list_splice_tail(&b, &a);
	EXPECT(list_is(&a, (int[]){ 1, 7, 8, 0 }, 4));
}

KTEST(list, safe_walk_survives_deletion)
{
	LIST_HEAD(head);
	struct item items[6], *it, *next;

	items_init(items, &head, 6);
	list_for_each_entry_safe(it, next, &head, link)
		if (it->id & 1)
			list_del(&it->link);
	EXPECT(list_is(&head, (int[]){ 0, 2, 4 }, 3));
	list_for_each_entry_safe(it, next, &head, link)
		list_del(&it->link);
	EXPECT(list_empty(&head));
}

/* Moves an id to the front or the back of the array. */
static void model_move(int *ids, int id, bool front)
{
	int from, i;

	for (from = 0; ids[from] != id; from++)
		;
	if (front)
		for (i = from; i > 0; i--)
			ids[i] = ids[i - 1];
	else
		for (i = from; i < NR_ITEMS - 1; i++)
			ids[i] = ids[i + 1];
	ids[front ? 0 : NR_ITEMS - 1] = id;
}

KTEST(list, random_moves_match_an_array)
{
	LIST_HEAD(head);
	struct item items[NR_ITEMS];
	int ids[NR_ITEMS], i, id;
	u32 rnd = ktap_seed_noted();
	bool front;

	items_init(items, &head, NR_ITEMS);
	for (i = 0; i < NR_ITEMS; i++)
		ids[i] = i;
	for (i = 0; i < 2000; i++) {
		id = ktap_random(&rnd) % NR_ITEMS;
		front = ktap_random(&rnd) & 1;
		if (front)
			list_move(&items[id].link, &head);
		else
			list_move_tail(&items[id].link, &head);
		model_move(ids, id, front);
	}
	EXPECT(list_is(&head, ids, NR_ITEMS));
}
