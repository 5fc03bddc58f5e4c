/*
 * Lazy buddy: a binary buddy that merges blocks only as far as it has to.
 *
 * The plain buddy merges at once. A program that allocates and frees one block after the other makes it
 * split and merge a large block each time. The lazy buddy marks a freed block either as locally free
 * (not merged, ready for the next request of its class) or as globally free (merged with its buddy if
 * that is globally free, too). For each class, with A blocks in use and L locally free, it keeps
 *
 *	slack = A - L >= 0
 *
 * so at most as many blocks wait unmerged as are in use. A free lowers A by one:
 *
 *	slack >= 2	lazy		locally free			slack falls by 2
 *	slack == 1	reclaiming	globally free			slack falls to 0
 *	slack == 0	accelerated	globally free, and so is one	slack stays 0
 *					locally free block
 *
 * An allocation prefers a locally free block, then a globally free one, then it splits one of the next
 * class that has any. It raises A, and may lower L, so slack only grows. Merging and splitting exchange
 * globally free blocks, and a class that loses a locally free one to a split gains slack.
 *
 * Left out: merging everything when no block is large enough; such a request fails.
 *
 * Source: Barkley and Lee, A Lazy Buddy System Bounded by Two Coalescing Delays per Class, SOSP 1989.
 */
#include "allocsim.h"

#define NR_CLASSES 21 /* 2^0 .. 2^20 units */
enum { INSIDE, IN_USE, LOCAL, GLOBAL };

static struct list_head local[NR_CLASSES], global[NR_CLASSES];
static u32 nr_in_use[NR_CLASSES], nr_local[NR_CLASSES];

static void make_free(struct block *b, u32 k, u32 state)
{
	b->order = k;
	b->state = state;
	list_add(&b->list, state == LOCAL ? &local[k] : &global[k]);
	nr_local[k] += state == LOCAL;
	tally.nr_free++;
}

static void take(struct block *b, u32 state)
{
	list_del(&b->list);
	nr_local[b->order] -= b->state == LOCAL;
	b->state = state;
	tally.nr_free--;
}

static void lazy_start(void)
{
	blocks_clear();
	for (u32 k = 0; k < NR_CLASSES; k++) {
		INIT_LIST_HEAD(&local[k]);
		INIT_LIST_HEAD(&global[k]);
		nr_in_use[k] = nr_local[k] = 0;
	}
	make_free(&blocks[0], log2_above(nr_units), GLOBAL);
}

/* Returns a free block of class k or above, the locally free ones of a class first; NULL if none. */
static struct block *find(u32 k)
{
	for (; k < NR_CLASSES; k++) {
		tally.steps++;
		if (!list_empty(&local[k]))
			return list_first_entry(&local[k], struct block, list);
		if (!list_empty(&global[k]))
			return list_first_entry(&global[k], struct block, list);
	}
	return NULL;
}

static u32 lazy_alloc(u32 size)
{
	u32 k = log2_above(in_units(size));
	struct block *b = find(k);

	if (!b)
		return NONE;
	take(b, IN_USE);
	while (b->order > k) {
		b->order--;
		make_free(b + (1u << b->order), b->order, GLOBAL);
		tally.splits++;
	}
	nr_in_use[k]++;
	hold((b - blocks) * unit, unit << k);
	return (b - blocks) * unit;
}

/* Makes a block globally free, after merging it as far as possible. */
static void free_globally(u32 at, u32 k)
{
	for (; 1u << k < nr_units; k++) {
		struct block *buddy = &blocks[at ^ (1u << k)];

		tally.steps++;
		if (buddy->state != GLOBAL || buddy->order != k)
			break;
		take(buddy, INSIDE);
		blocks[at].state = INSIDE;
		at &= ~(1u << k);
		tally.merges++;
	}
	make_free(&blocks[at], k, GLOBAL);
}

static void lazy_free(u32 address, u32 size)
{
	u32 k = log2_above(in_units(size)), slack = nr_in_use[k] - nr_local[k];

	release(address, unit << k);
	tally.steps++;
	nr_in_use[k]--;
	if (slack >= 2) {
		make_free(&blocks[address / unit], k, LOCAL);
		return;
	}
	free_globally(address / unit, k);
	if (!slack && nr_local[k]) {
		struct block *other = list_first_entry(&local[k], struct block, list);

		take(other, INSIDE);
		free_globally(other - blocks, k);
	}
}

static bool lazy_sound(void)
{
	for (u32 k = 0; k < NR_CLASSES; k++)
		if (nr_local[k] > nr_in_use[k])
			return false;
	return true;
}

static const struct allocator lazy_buddy = {
	.name = "lazy buddy",
	.start = lazy_start,
	.alloc = lazy_alloc,
	.free = lazy_free,
	.sound = lazy_sound,
};
ALLOCATOR(lazy_buddy);
