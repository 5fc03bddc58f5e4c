/*
 * Mach zones: one cache for each size of object.
 *
 * A zone holds elements of one size in a list. An empty zone takes pages and cuts them into elements; a
 * freed element returns to the list. Real zones belong to a type of object, and may keep its elements
 * initialized; here all types of one size share a zone, and nothing is initialized.
 *
 * Only the rest of the pages is lost: with m pages and elements of s bytes that is m * 4096 mod s. A zone
 * takes the smallest m up to 8 whose rest is at most an eighth, or the m with the smallest share.
 *
 * A free does not know whether the other elements of its pages are free, so pages are given back by a
 * garbage collector (reap). It counts the free elements of each run of pages, and removes those of the
 * runs that are free entirely: its steps grow with the length of the list.
 *
 * Source: Vahalia, UNIX Internals (1996) 12.8; Sciver and Rashid, Zone Garbage Collection, USENIX Mach
 * Workshop 1990.
 */
#include "allocsim.h"

#define MOST_PAGES 8u
#define MAX_ZONE 8192u /* sizes in units */

/* The block of a run's first unit has in `size` the number of its elements in use, and in `count` that of
 * its elements found by the collector. */
static struct zone_of_size {
	struct list_head elements;
	u32 pages; /* of a run; 0: the zone was never used */
} zones_by_size[MAX_ZONE + 1];

static u32 run_of[MAX_UNITS]; /* the first unit of the run to which an element belongs */

static void zones_start(void)
{
	blocks_clear();
	for (u32 n = 0; n <= MAX_ZONE; n++) {
		INIT_LIST_HEAD(&zones_by_size[n].elements);
		zones_by_size[n].pages = 0;
	}
}

static u32 rest(u32 pages, u32 bytes)
{
	return pages * PAGE_SIZE % bytes;
}

static u32 choose_pages(u32 bytes)
{
	u32 least = (bytes + PAGE_SIZE - 1) / PAGE_SIZE, best = least;

	for (u32 m = least; m <= MOST_PAGES; m++) {
		if (rest(m, bytes) * best < rest(best, bytes) * m)
			best = m;
		if (rest(best, bytes) <= best * PAGE_SIZE / 8)
			break;
	}
	return best;
}

static bool grow(struct zone_of_size *z, u32 bytes)
{
	u32 address, first;

	z->pages = z->pages ?: choose_pages(bytes);
	address = pages_take(z->pages);
	if (address == NONE)
		return false;
	first = address / unit;
	blocks[first].size = 0;
	for (u32 at = 0; at + bytes <= z->pages * PAGE_SIZE; at += bytes) {
		run_of[first + at / unit] = first;
		list_add_tail(&blocks[first + at / unit].list, &z->elements);
		tally.nr_free++;
	}
	return true;
}

static u32 zones_alloc(u32 size)
{
	u32 n = in_units(size);
	struct zone_of_size *z = &zones_by_size[n];
	struct block *b;

	tally.steps++;
	if (n > MAX_ZONE || (list_empty(&z->elements) && !grow(z, n * unit)))
		return NONE;
	b = list_first_entry(&z->elements, struct block, list);
	list_del(&b->list);
	tally.nr_free--;
	tally.granted += n * unit;
	blocks[run_of[b - blocks]].size++;
	return (b - blocks) * unit;
}

static void zones_free(u32 address, u32 size)
{
	u32 n = in_units(size);

	tally.steps++;
	tally.granted -= n * unit;
	tally.nr_free++;
	blocks[run_of[address / unit]].size--;
	list_add(&blocks[address / unit].list, &zones_by_size[n].elements);
}

/* Gives back the runs of a zone without elements in use, when the last of their elements is found. */
static void collect(struct zone_of_size *z, u32 bytes)
{
	u32 in_run = z->pages * PAGE_SIZE / bytes;
	struct block *b, *next;

	list_for_each_entry_safe(b, next, &z->elements, list) {
		u32 first = run_of[b - blocks];

		tally.steps++;
		if (blocks[first].size)
			continue;
		list_del(&b->list);
		tally.nr_free--;
		if (++blocks[first].count == in_run) {
			blocks[first].count = 0;
			pages_give(first * unit, z->pages);
		}
	}
}

static void zones_reap(void)
{
	for (u32 n = 1; n <= MAX_ZONE; n++)
		collect(&zones_by_size[n], n * unit);
}

static const struct allocator mach_zones = {
	.name = "Mach zones",
	.start = zones_start,
	.alloc = zones_alloc,
	.free = zones_free,
	.reap = zones_reap,
};
ALLOCATOR(mach_zones);
