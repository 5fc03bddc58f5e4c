/*
 * Swap areas: which areas exist, and which of them provides the next slot.
 *
 * Numbers. A slot number consists of the area's number, 3 bits, and the place in it, 21 bits (8 GiB). So
 * an area has a range of numbers, and an aligned group for read-ahead lies in one area. Since the first
 * slot of an area is never used, a run of consecutive slots does not cross an area's border either.
 *
 * Priorities. Slots come from the area with the highest priority that has a free slot. Areas of
 * equal priority take turns, group by group, so that pages evicted together still lie together and
 * the disks work in parallel. `turn` remembers the choice. A new choice is made when the area is
 * full, when a group has been allocated (if there is more than one area), when a full area has a
 * free slot again, and when areas are added or removed.
 *
 * Within an area slots are allocated in order. If the next one is in use, the search continues at
 * the next completely free group, and only if there is none, at any free slot.
 *
 * Places that must never be used (the first one, and mkswap's bad ones) look cached, but have no frame.
 */
#include "lib/assert.h"
#include "lib/string.h"
#include "swap_internal.h"

#define FORBIDDEN ((struct page *)1)

struct swap_area swap_areas[MAX_SWAP_AREAS];
struct swap_index swap_index;
u32 swap_nr_slots, swap_nr_usable;

static struct swap_area nobody; /* the empty area: has no slots */
static struct swap_area *turn = &nobody; /* the area that provides the next slot */
static u32 last;    /* index of the area that was chosen last */
static u32 nr_areas;

size_t swap_tables_size(u32 nr)
{
	u32 n = ALIGN_UP(nr, SWAP_GROUP);

	return n * (sizeof(struct page *) + sizeof(u32) + sizeof(u16)) + n / SWAP_GROUP;
}

struct swap_tables swap_tables_at(void *memory, u32 nr)
{
	u32 n = ALIGN_UP(nr, SWAP_GROUP);
	struct page **cache = memory;
	u32 *shadow = (u32 *)(cache + n);
	u16 *map = (u16 *)(shadow + n);

	return (struct swap_tables){ cache, shadow, map, (u8 *)(map + n) };
}

/* Address at which the table would begin if it also had entries for the slots below the area. */
static void *from_zero(void *table, u32 first, size_t size)
{
	return (void *)((uintptr_t)table - first * size);
}

static void enter(const struct swap_area *a)
{
	const struct swap_tables *t = &a->t;
	u32 i = a - swap_areas;

	swap_index.cache[i] = from_zero(t->cache, a->first, sizeof(*t->cache));
	swap_index.shadow[i] = from_zero(t->shadow, a->first, sizeof(*t->shadow));
	swap_index.map[i] = from_zero(t->map, a->first, sizeof(*t->map));
	swap_index.end[i] = a->first + a->nr;
}

struct swap_area *swap_area_add(u32 nr, struct swap_tables t)
{
	struct swap_area *a = swap_areas;

	while (a < swap_areas + MAX_SWAP_AREAS && a->nr)
		a++;
	if (a == swap_areas + MAX_SWAP_AREAS)
		return NULL;
	*a = (struct swap_area){ .first = (a - swap_areas) << AREA_SHIFT, .nr = nr, .t = t };
	a->nr_free = a->nr_usable = nr;
	enter(a);
	swap_area_forbid(a, 0);
	a->cursor = 1;
	nr_areas++;
	return a;
}

void swap_area_forbid(struct swap_area *a, u32 place)
{
	if (swap_place_forbidden(a, place))
		return;
	a->t.cache[place] = FORBIDDEN;
	a->t.group_used[place / SWAP_GROUP]++;
	a->nr_free--;
	a->nr_usable--;
}

static void count_area(const struct swap_area *a, int sign)
{
	swap_nr_slots += sign * a->nr;
	swap_nr_usable += sign * a->nr_usable;
	swap_nr_free += sign * a->nr_free;
	swap_turn_over();
}

void swap_area_open(struct swap_area *a, int prio)
{
	a->prio = prio;
	a->open = true;
	count_area(a, 1);
}

void swap_area_close(struct swap_area *a)
{
	a->open = false;
	count_area(a, -1);
}

void swap_area_drop(struct swap_area *a)
{
	ASSERT(!a->open && !swap_area_used(a));
	swap_index.end[a - swap_areas] = 0;
	*a = (struct swap_area){ 0 };
	nr_areas--;
}

void swap_turn_over(void)
{
	turn = &nobody;
}

/* Returns the area with the highest priority that has a free slot; among equals, the next one in turn. */
static struct swap_area *choose_area(void)
{
	struct swap_area *best = &nobody;

	for (u32 i = 1; i <= MAX_SWAP_AREAS; i++) {
		struct swap_area *a = &swap_areas[(last + i) % MAX_SWAP_AREAS];

		if (a->open && a->nr_free && (best == &nobody || a->prio > best->prio))
			best = a;
	}
	if (best != &nobody)
		last = best - swap_areas;
	return best;
}

/* Returns the next free place, when the one at the cursor is in use. */
static u32 find_place(const struct swap_area *a)
{
	u32 nr_groups = a->nr / SWAP_GROUP;

	for (u32 i = 0, g = a->cursor / SWAP_GROUP; i < nr_groups; i++, g++) {
		if (g >= nr_groups)
			g = 0;
		if (!a->t.group_used[g])
			return g * SWAP_GROUP;
	}
	for (u32 i = 0, p = a->cursor; i < a->nr; i++, p++) {
		if (p >= a->nr)
			p = 0;
		if (swap_place_free(a, p))
			return p;
	}
	panic("swap: %u slots are said to be free, but none is", a->nr_free);
}

/* Returns the area whose turn it is now, with its cursor at a free place; the empty area if all areas are full. */
static struct swap_area *next_turn(void)
{
	struct swap_area *a = turn = choose_area();

	if (a == &nobody)
		return a;
	if (a->cursor >= a->nr || !swap_place_free(a, a->cursor))
		a->cursor = find_place(a);
	a->limit = a->nr;
	if (nr_areas > 1)
		a->limit = MIN(a->nr, ALIGN_UP(a->cursor + 1, SWAP_GROUP));
	return a;
}

u32 swap_alloc(void)
{
	struct swap_area *a = turn;
	u32 place;

	if (unlikely(!a->nr_free || a->cursor >= a->limit || !swap_place_free(a, a->cursor)))
		a = next_turn();
	if (unlikely(a == &nobody))
		return 0;
	place = a->cursor++;
	a->nr_free--;
	swap_nr_free--;
	a->t.group_used[place / SWAP_GROUP]++;
	return a->first + place;
}
