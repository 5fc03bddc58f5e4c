/*
 * Resource map: one list of the free areas, sorted by address; first fit.
 *
 * An allocation takes the lower end of the first area that is large enough. A free walks the list to
 * the place of the block and merges it with the neighbours that it touches. Any size is served without
 * rounding up to a class, so a block wastes less than a unit.
 *
 * Cost: both operations walk the list, so their steps grow in proportion to its length. Memory is lost
 * between the blocks: areas that are too small for the requests stay at the front of the list.
 *
 * Knuth's fifty-per-cent rule says how long the list gets. In equilibrium, with N blocks in use of which
 * a share p was not an exact fit when it was allocated, the list has about p N / 2 areas.
 *
 * The node of an area is the block of its first unit: a real one lies in a table beside the memory.
 *
 * Source: Vahalia, UNIX Internals (1996) 12.3; Knuth, The Art of Computer Programming 1, 2.5.
 */
#include "allocsim.h"

static LIST_HEAD(areas);

#define START(area) ((u32)((area) - blocks))
#define END(area) (START(area) + (area)->size)

static void map_start(void)
{
	blocks_clear();
	INIT_LIST_HEAD(&areas);
	blocks[0].size = nr_units;
	list_add(&blocks[0].list, &areas);
	tally.nr_free = 1;
}

static void area_remove(struct block *area)
{
	list_del(&area->list);
	tally.nr_free--;
}

static void area_insert(struct block *area, u32 size, struct list_head *before)
{
	area->size = size;
	list_add_tail(&area->list, before);
	tally.nr_free++;
}

static u32 map_alloc(u32 size)
{
	u32 n = in_units(size), start;
	struct block *area;

	list_for_each_entry(area, &areas, list) {
		tally.steps++;
		if (area->size < n)
			continue;
		start = START(area);
		if (area->size > n) {
			area_insert(area + n, area->size - n, area->list.next);
			tally.splits++;
		}
		area_remove(area);
		hold(start * unit, n * unit);
		return start * unit;
	}
	return NONE;
}

static void map_free(u32 address, u32 size)
{
	struct block *area, *freed = &blocks[address / unit], *before = NULL;
	u32 n = in_units(size);

	release(address, n * unit);
	list_for_each_entry(area, &areas, list) {
		tally.steps++;
		if (START(area) > START(freed))
			break;
		before = area;
	}
	area_insert(freed, n, &area->list);
	if (&area->list != &areas && END(freed) == START(area)) {
		freed->size += area->size;
		area_remove(area);
		tally.merges++;
	}
	if (before && END(before) == START(freed)) {
		before->size += freed->size;
		area_remove(freed);
		tally.merges++;
	}
}

/* Are the areas in order, and does none touch the next? */
static bool map_sound(void)
{
	struct block *area, *before = NULL;

	list_for_each_entry(area, &areas, list) {
		if (before && END(before) >= START(area))
			return false;
		before = area;
	}
	return !before || END(before) <= nr_units;
}

static const struct allocator resource_map = {
	.name = "resource map",
	.start = map_start,
	.alloc = map_alloc,
	.free = map_free,
	.sound = map_sound,
};
ALLOCATOR(resource_map);
