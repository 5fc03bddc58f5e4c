/* Tests which slot is allocated next, while areas are added and removed, against a model that keeps
 * a list of free places but has no cursors: the model says whether an answer is permitted. */
#include "swap_area.c"

#include "lib/ktap.h"
#include <stdlib.h>

#define MAX_NR 300u

static bool used[MAX_SWAP_AREAS][MAX_NR]; /* the model: places allocated or forbidden */

static struct swap_area *add_area(u32 nr, int prio)
{
	struct swap_area *a =
		swap_area_add(nr, swap_tables_at(calloc(1, swap_tables_size(nr)), nr));

	if (!a)
		return NULL;
	memset(used[a - swap_areas], 0, MAX_NR);
	used[a - swap_areas][0] = true;
	swap_area_open(a, prio);
	return a;
}

static void drop_area(struct swap_area *a)
{
	void *tables = a->t.cache;

	if (a->open)
		swap_area_close(a);
	swap_area_drop(a);
	free(tables);
}

static void drop_all(void)
{
	struct swap_area *a;

	for_each_swap_area(a) {
		for (u32 i = 1; i < a->nr; i++)
			if (a->t.map[i]) {
				a->t.map[i] = 0;
				swap_slot_put(a->first + i);
			}
		drop_area(a);
	}
}

static u32 model_nr_free(const struct swap_area *a)
{
	u32 n = 0;

	for (u32 i = 0; i < a->nr; i++)
		n += !used[a - swap_areas][i];
	return n;
}

/* The highest priority among open areas that have a free place; INT32_MIN if there is none. */
static int model_prio(void)
{
	const struct swap_area *a;
	int best = INT32_MIN;

	for_each_swap_area(a)
		if (a->open && model_nr_free(a) && a->prio > best)
			best = a->prio;
	return best;
}

/* Allocates a slot, which the model must permit, or returns 0, which the model must confirm. */
static u32 take(void)
{
	int prio = model_prio();
	u32 slot = swap_alloc(), place = slot % MAX_AREA_SLOTS;
	struct swap_area *a = swap_area_of(slot);

	EXPECT_EQ(slot != 0, prio != INT32_MIN);
	if (!slot)
		return 0;
	EXPECT(a->open && a->prio == prio && place < a->nr && !used[a - swap_areas][place]);
	used[a - swap_areas][place] = true;
	a->t.map[place] = 1;
	return slot;
}

static void give(u32 slot)
{
	struct swap_area *a = swap_area_of(slot);

	used[a - swap_areas][slot - a->first] = false;
	a->t.map[slot - a->first] = 0;
	swap_slot_put(slot);
}

static void compare_counts(void)
{
	u32 nr = 0, nr_free = 0;
	const struct swap_area *a;

	for_each_swap_area(a) {
		EXPECT_EQ(a->nr_free, model_nr_free(a));
		nr += a->open ? a->nr : 0;
		nr_free += a->open ? a->nr_free : 0;
	}
	EXPECT_EQ(swap_nr_slots, nr);
	EXPECT_EQ(swap_nr_free, nr_free);
}

/* Returns some slot that is in use, or 0. */
static u32 some_slot(u32 *seed)
{
	struct swap_area *a = &swap_areas[ktap_random(seed) % MAX_SWAP_AREAS];

	for (u32 i = 0; a->nr && i < 20; i++) {
		u32 place = ktap_random(seed) % a->nr;

		if (a->t.map[place])
			return a->first + place;
	}
	return 0;
}

static void change_areas(u32 *seed)
{
	struct swap_area *a = &swap_areas[ktap_random(seed) % MAX_SWAP_AREAS];

	if (!a->nr)
		add_area(ktap_random(seed) % (MAX_NR - 2) + 2, (int)(ktap_random(seed) % 4) - 2);
	else if (a->open)
		swap_area_close(a);
	else if (!swap_area_used(a))
		drop_area(a);
	else if (ktap_random(seed) % 2)
		swap_area_open(a, a->prio);
}

KTEST(swap_area, hands_out_what_the_model_allows)
{
	u32 seed = ktap_seed_noted(), slot;

	for (u32 i = 0; i < 40000; i++) {
		u32 what = ktap_random(&seed) % 400;

		if (what == 0)
			change_areas(&seed);
		else if (what % 2)
			take();
		else if ((slot = some_slot(&seed)))
			give(slot);
		if (i % 64 == 0)
			compare_counts();
	}
	drop_all();
	compare_counts();
}

KTEST(swap_area, equal_areas_take_turns_by_groups)
{
	u32 in[2] = { 0 }, switches = 0, last_area = 0;

	add_area(256, 5);
	add_area(256, 5);
	add_area(256, 4);
	for (u32 i = 0; i < 256; i++) {
		u32 area = take() >> AREA_SHIFT;

		EXPECT(area < 2);
		in[area % 2]++;
		switches += area != last_area;
		last_area = area;
	}
	EXPECT(in[0] >= 96 && in[1] >= 96);
	EXPECT(switches >= 7 && switches <= 9);
	drop_all();
}

KTEST(swap_area, the_next_priority_waits_until_the_first_is_full)
{
	struct swap_area *low = add_area(64, 1), *high = add_area(40, 2);
	u32 slot = 0;

	for (u32 i = 0; i < 39; i++)
		EXPECT(swap_area_of(slot = take()) == high);
	EXPECT(swap_area_of(take()) == low);
	give(slot);
	EXPECT_EQ(take(), slot);
	EXPECT(swap_area_of(take()) == low);
	drop_all();
}

KTEST(swap_area, one_area_hands_out_in_order)
{
	add_area(100, 0);
	for (u32 i = 1; i < 100; i++)
		EXPECT_EQ(take(), i);
	EXPECT_EQ(take(), 0);
	drop_all();
}

KTEST(swap_area, forbidden_places_are_never_handed_out)
{
	struct swap_area *a = add_area(8, 0);

	swap_area_close(a);
	swap_area_forbid(a, 3);
	swap_area_forbid(a, 3);
	used[0][3] = true;
	swap_area_open(a, 0);
	for (u32 i = 0; i < 6; i++)
		EXPECT(take() != 3);
	EXPECT_EQ(take(), 0);
	drop_all();
}

KTEST(swap_area, there_are_eight)
{
	for (u32 i = 0; i < MAX_SWAP_AREAS; i++)
		EXPECT(add_area(4, 0));
	EXPECT(!swap_area_add(4, swap_tables_at(used, 4)));
	drop_all();
	EXPECT(add_area(4, 0) == swap_areas);
	drop_all();
}

KTEST(swap_area, of_an_area_that_is_gone_no_slot_is_valid)
{
	u32 slot;

	add_area(4, 0);
	slot = take();
	EXPECT(swap_slot_valid(slot));
	drop_all();
	EXPECT(!swap_slot_valid(slot));
}
