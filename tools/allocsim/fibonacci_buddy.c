/*
 * Fibonacci buddy: blocks of F(k) = F(k-1) + F(k-2) units, so that sizes lie closer than powers of two.
 *
 * A block of class k is split into a left one of class k - 1 and a right one of class k - 2. Its address
 * does not tell on which side a block lies, so each block keeps a left-buddy count: 0 for a right
 * buddy, otherwise how often in a row it and its ancestors were left halves.
 *
 *	split	left half: the block's count + 1; right half: 0
 *	merge	the block gets the left half's count - 1
 *
 * The root has no buddy; it is recognized by its class.
 *
 * If a request is uniform over (F(k-1), F(k)], the mean loss is (F(k-2) - 1) / (2 F(k)). That approaches
 * 1 / (2 phi^2), 19.1 %, where the binary buddy loses 25 %.
 *
 * Source: Hirschberg, CACM 16 (1973) 615; the left-buddy count: Cranston and Thomas, CACM 18 (1975) 331,
 * and Hinds, CACM 18 (1975) 221.
 */
#include "allocsim.h"

#define NR_CLASSES 30 /* the last has 832,040 units */
enum { INSIDE, IN_USE, FREE };

static struct list_head free_blocks[NR_CLASSES];
static u32 fibonacci[NR_CLASSES]; /* 1, 1, 2, 3, 5, ...: units */
static u32 root;

static void make_free(struct block *b, u32 k)
{
	b->order = k;
	b->state = FREE;
	list_add(&b->list, &free_blocks[k]);
	tally.nr_free++;
}

static void take(struct block *b, u32 state)
{
	list_del(&b->list);
	b->state = state;
	tally.nr_free--;
}

/* The root is the largest block that fits into the arena; the rest is not used. */
static void fibonacci_start(void)
{
	blocks_clear();
	for (u32 k = 0; k < NR_CLASSES; k++) {
		INIT_LIST_HEAD(&free_blocks[k]);
		fibonacci[k] = k < 2 ? 1 : fibonacci[k - 1] + fibonacci[k - 2];
		if (fibonacci[k] <= nr_units)
			root = k;
	}
	make_free(&blocks[0], root);
}

static u32 class_of(u32 size)
{
	u32 k = 0;

	while (k < NR_CLASSES && fibonacci[k] < in_units(size))
		k++;
	return k;
}

/* Splits b, and returns the smaller half that is of class k or above. */
static struct block *split(struct block *b, u32 k)
{
	struct block *right = b + fibonacci[b->order - 1];

	right->order = b->order - 2;
	right->count = 0;
	b->order--;
	b->count++;
	tally.splits++;
	if (right->order >= k) {
		make_free(b, b->order);
		return right;
	}
	make_free(right, right->order);
	return b;
}

static u32 fibonacci_alloc(u32 size)
{
	u32 k = class_of(size), from = k;
	struct block *b;

	while (from < NR_CLASSES && list_empty(&free_blocks[from]))
		from++;
	tally.steps += from - k + 1;
	if (from >= NR_CLASSES)
		return NONE;
	b = list_first_entry(&free_blocks[from], struct block, list);
	take(b, IN_USE);
	while (b->order > k && b->order >= 2)
		b = split(b, k);
	b->state = IN_USE;
	hold((b - blocks) * unit, fibonacci[b->order] * unit);
	return (b - blocks) * unit;
}

/* Returns the buddy, or NULL if it is not free as a whole. */
static struct block *free_buddy(struct block *b)
{
	struct block *buddy;
	u32 k = b->order;

	if (k == root)
		return NULL;
	buddy = b->count ? b + fibonacci[k] : b - fibonacci[k + 1];
	k = b->count ? k - 1 : k + 1;
	return buddy->state == FREE && buddy->order == k ? buddy : NULL;
}

static void fibonacci_free(u32 address, u32 size)
{
	struct block *b = &blocks[address / unit], *buddy;

	(void)size;
	release(address, fibonacci[b->order] * unit);
	tally.steps++;
	while ((buddy = free_buddy(b))) {
		struct block *left = b->count ? b : buddy;

		take(buddy, INSIDE);
		b->state = INSIDE;
		b = left;
		b->order++;
		b->count--;
		tally.merges++;
		tally.steps++;
	}
	make_free(b, b->order);
}

static const struct allocator fibonacci_buddy = {
	.name = "Fibonacci buddy",
	.start = fibonacci_start,
	.alloc = fibonacci_alloc,
	.free = fibonacci_free,
};
ALLOCATOR(fibonacci_buddy);
