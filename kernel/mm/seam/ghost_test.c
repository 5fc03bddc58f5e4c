/* Tests the table of ghosts against an array with linear search. */
#include "host/fake_core.h"
#include "mm/ghost.h"

enum { CAPACITY = 300, NR_IDS = 500 };

static u32 seed;

KTEST(ghost, is_found_until_it_is_dropped)
{
	struct ghost *of[NR_IDS] = { 0 };
	struct ghosts g;
	LIST_HEAD(all);
	u32 nr = 0;

	seed = ktap_seed_noted();
	EXPECT_EQ(ghosts_init(&g, CAPACITY), 0);
	for (u32 op = 0; op < 20000; op++) {
		u32 i = ktap_random(&seed) % NR_IDS;
		struct page_id id = { 1 + i % 3, i / 3 };

		EXPECT_EQ(ghost_find(&g, id), of[i]);
		if (of[i]) {
			EXPECT_EQ(of[i]->data, i);
			ghost_drop(&g, of[i]);
			of[i] = NULL;
			nr--;
		} else if ((of[i] = ghost_add(&g, id))) {
			EXPECT_EQ(of[i]->data, 0);
			of[i]->data = i;
			list_add(&of[i]->node, &all);
			nr++;
		} else {
			EXPECT_EQ(nr, CAPACITY);
		}
		EXPECT_EQ(g.nr, nr);
	}
	for (struct list_head *at = all.next; at != &all; at = at->next)
		nr--;
	EXPECT_EQ(nr, 0);
	ghosts_exit(&g);
}

KTEST(ghost, of_the_same_page_there_is_one)
{
	struct ghosts g;
	struct ghost *first;

	EXPECT_EQ(ghosts_init(&g, 1), 0);
	first = ghost_add(&g, (struct page_id){ 1, 7 });
	first->data = 5;
	EXPECT_EQ(ghost_add(&g, (struct page_id){ 1, 7 }), first);
	EXPECT_EQ(first->data, 0);
	EXPECT(!ghost_add(&g, (struct page_id){ 2, 7 }));
	EXPECT(!ghost_find(&g, (struct page_id){ 2, 7 }));
	EXPECT_EQ(g.nr, 1);
	ghosts_exit(&g);
}
