/*
 * Replaying a log through every allocator: CSV, a row for each allocator at about SAMPLES places.
 *
 * The objects are those of the slab caches, with the size that was asked for; the frames are those of
 * the buddy, in bytes. Every allocator starts empty, and gets the same requests in the same order. An
 * allocation that fails is counted, and its free is left out.
 */
#include "sim.h"

#define SAMPLES 100

static u64 nr_failed;
static u32 asked; /* bytes in use, as requested */

static bool is_request(const struct event *e, bool frames)
{
	return frames ? e->kind == 'p' || e->kind == 'q' : e->kind == 'a' || e->kind == 'f';
}

static void allocate(const struct allocator *a, const struct event *e, u32 size)
{
	u32 address = a->alloc(size);

	*e->handle = (struct handle){ address, size };
	if (address == NONE)
		nr_failed++;
	else
		asked += size;
}

static void give_back(const struct allocator *a, struct handle was)
{
	if (was.address == NONE)
		return;
	a->free(was.address, was.size);
	asked -= was.size;
}

static void carry_out(const struct allocator *a, const struct event *e)
{
	if (e->kind == 'p')
		allocate(a, e, PAGE_SIZE << e->size);
	else if (e->kind == 'a')
		allocate(a, e, e->size);
	else
		give_back(a, *e->handle);
}

static void print_row(const struct allocator *a, u32 nr)
{
	printf("%s,%u,%u,%u,%u,%u,%llu,%llu,%llu,%llu\n", a->name, nr, asked, tally.granted,
	       tally.held, tally.nr_free, tally.splits, tally.merges, tally.steps, nr_failed);
	if (a->sound && !a->sound())
		bad("%s breaks its invariants after operation %u", a->name, nr);
}

static u32 count_requests(const char *log, bool frames)
{
	struct event e;
	u32 nr = 0;

	log_open(log);
	while (log_next(&e))
		nr += is_request(&e, frames);
	return nr;
}

static void replay_one(const struct allocator *a, const char *log, bool frames, u32 total)
{
	u32 nr = 0, every = MAX(total / SAMPLES, 1u);
	struct event e;

	log_open(log);
	pages_start();
	nr_failed = asked = 0;
	a->start();
	while (log_next(&e)) {
		if (e.kind == 'r' && a->reap)
			a->reap();
		if (!is_request(&e, frames))
			continue;
		carry_out(a, &e);
		if (++nr % every == 0 || nr == total)
			print_row(a, nr);
	}
}

void replay(const char *log, bool frames)
{
	u32 nr = count_requests(log, frames);
	const struct allocator *const *a;

	unit = frames ? PAGE_SIZE : 16;
	nr_units = frames ? ARENA_PAGES : MAX_UNITS;
	printf("allocator,operations,asked,granted,held,free,splits,merges,steps,failed\n");
	for_each_allocator(a) replay_one(*a, log, frames, nr);
}
