/*
 * Remembers two sequences for each of the last readers, so that two places that are read in turn through one open
 * file are both read ahead. The place that is not in use is in a table; the one in use is in the struct readahead.
 */
#include "internal.h"

#define NR_PLACES 16u

static struct place {
	const struct readahead *reader;
	u32 next, start, size;
} places[NR_PLACES];
static u32 turn;

static u32 most(void)
{
	return MAX(readahead_kb * 1024 / PAGE_SIZE, 1u);
}

static u32 next_size(const struct readahead *ahead)
{
	u32 max = most();

	if (ahead->advice == READ_SEQUENTIAL)
		return ahead->size ? 2 * max : max;
	return ahead->size ? MIN(2 * ahead->size, max) : MIN(4u, max);
}

static void exchange(struct readahead *ahead, struct place *place)
{
	struct place other = { ahead, ahead->next, ahead->start, ahead->size };

	ahead->next = place->next;
	ahead->start = place->start;
	ahead->size = place->size;
	*place = other;
}

/* Makes the sequence that page `index` continues the one in use. If there is none, another one begins. */
static void choose(struct readahead *ahead, u32 index)
{
	if (index == ahead->next || index + 1 == ahead->next)
		return;
	for (u32 i = 0; i < NR_PLACES; i++)
		if (places[i].reader == ahead && places[i].next == index) {
			exchange(ahead, &places[i]);
			return;
		}
	places[turn++ % NR_PLACES] =
		(struct place){ ahead, ahead->next, ahead->start, ahead->size };
	ahead->size = 0;
}

u32 readahead_miss(struct readahead *ahead, u32 index, u32 want)
{
	want = MIN(want, most());
	if (!ahead->mapped)
		choose(ahead, index);
	if (index != ahead->next || ahead->advice == READ_RANDOM || most() == 1) {
		ahead->size = 0;
		return want;
	}
	ahead->size = MAX(next_size(ahead), want);
	ahead->start = index;
	return ahead->size;
}

bool readahead_follow(struct readahead *ahead, u32 index)
{
	bool entered;

	if (!ahead->mapped)
		choose(ahead, index);
	entered = ahead->size && index - ahead->start < ahead->size;
	ahead->next = index + 1;
	if (!entered || ahead->advice == READ_RANDOM)
		return false;
	ahead->start += ahead->size;
	ahead->size = next_size(ahead);
	return true;
}
