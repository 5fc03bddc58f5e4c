/*
 * Made traffic, for questions that no log answers alone. Each mode prints CSV for every allocator.
 *
 * waste	Blocks of one size, 128 KiB of them: bytes asked for, in blocks and in pages held, for each
 *		size from 1 to 4,096.
 * random	N blocks in use. Each step frees one of them, drawn at random, and allocates one whose size is
 *		uniform from 16 bytes to 2 KiB in units. After WARM_UP steps for each block: free blocks, the
 *		share of allocations that split a block, steps of an operation; at the end the bytes asked for,
 *		in blocks, and held.
 * alternating	N blocks of 64 bytes are in use; then one is allocated and freed, 1,000 times: splits and
 *		merges of such a pair. The arena is as large as the largest block of the kernel's buddy.
 *
 * The numbers are drawn from a fixed seed, so the output is always the same.
 */
#include "sim.h"

#include "lib/ktap.h"

enum { LARGEST = 4096, FILL = 128 << 10 };
enum { WARM_UP = 20, MEASURED = 20, MOST_BLOCKS = 2048, UNITS_OF_RANDOM = 128 };
enum { PAIRS = 1000, MOST_HELD = 16, SIZE_OF_PAIR = 64, UNITS_OF_PAIR = 1024 };

static struct handle in_use[MOST_BLOCKS];

static void start(const struct allocator *a, u32 units)
{
	unit = 16;
	nr_units = units;
	pages_start();
	a->start();
}

static void waste_of(const struct allocator *a, u32 size)
{
	u32 nr = FILL / MAX(size, unit);

	start(a, 4 * FILL / 16);
	for (u32 i = 0; i < nr; i++)
		if (a->alloc(size) == NONE)
			bad("%s cannot allocate %u blocks of %u bytes", a->name, nr, size);
	printf("%s,%u,%u,%u,%u\n", a->name, size, nr * size, tally.granted, tally.held);
}

void waste(void)
{
	const struct allocator *const *a;

	unit = 16;
	printf("allocator,size,asked,granted,held\n");
	for_each_allocator(a) for (u32 size = 1; size <= LARGEST; size++) waste_of(*a, size);
}

static void replace(const struct allocator *a, struct handle *h, u32 *random)
{
	if (h->size)
		a->free(h->address, h->size);
	h->size = (1 + ktap_random(random) % UNITS_OF_RANDOM) * unit;
	h->address = a->alloc(h->size);
	if (h->address == NONE)
		bad("%s is out of memory", a->name);
}

static void random_of(const struct allocator *a, u32 nr)
{
	u32 random = 1;
	u64 sum_free = 0, allocations = 0;
	struct tally before;
	u32 split = 0, asked = 0;

	start(a, MAX_UNITS);
	for (u32 i = 0; i < nr; i++)
		in_use[i].size = 0;
	for (u32 i = 0; i < nr; i++)
		replace(a, &in_use[i], &random);
	for (u32 i = 0; i < WARM_UP * nr; i++)
		replace(a, &in_use[ktap_random(&random) % nr], &random);
	before = tally;
	for (u32 i = 0; i < MEASURED * nr; i++, allocations++) {
		u64 splits = tally.splits;

		replace(a, &in_use[ktap_random(&random) % nr], &random);
		split += tally.splits > splits;
		sum_free += tally.nr_free;
	}
	if (a->sound && !a->sound())
		bad("%s breaks its invariants", a->name);
	for (u32 i = 0; i < nr; i++)
		asked += in_use[i].size;
	printf("%s,%u,%.2f,%.4f,%.3f,%u,%u,%u\n", a->name, nr, (double)sum_free / allocations,
	       (double)split / allocations,
	       (double)(tally.steps - before.steps) / (2 * allocations), asked, tally.granted,
	       tally.held);
}

void random_traffic(void)
{
	const struct allocator *const *a;

	printf("allocator,blocks,free,split_share,steps,asked,granted,held\n");
	for_each_allocator(a) for (u32 nr = 16; nr <= MOST_BLOCKS; nr *= 2) random_of(*a, nr);
}

static void alternating_of(const struct allocator *a, u32 nr)
{
	struct tally before;

	start(a, UNITS_OF_PAIR);
	for (u32 i = 0; i < nr; i++)
		a->alloc(SIZE_OF_PAIR);
	before = tally;
	for (u32 i = 0; i < PAIRS; i++)
		a->free(a->alloc(SIZE_OF_PAIR), SIZE_OF_PAIR);
	printf("%s,%u,%.3f,%.3f\n", a->name, nr, (double)(tally.splits - before.splits) / PAIRS,
	       (double)(tally.merges - before.merges) / PAIRS);
}

void alternating(void)
{
	const struct allocator *const *a;

	printf("allocator,held,splits,merges\n");
	for_each_allocator(a) for (u32 nr = 0; nr <= MOST_HELD; nr++) alternating_of(*a, nr);
}
