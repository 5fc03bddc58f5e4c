/* The next window is requested when half of the last one is used, so that fewer pages are read for nothing. */
#include "internal.h"

static u32 pages_allowed(const struct readahead *ahead)
{
	u32 pages = MAX(readahead_kb * 1024 / PAGE_SIZE, 1u);

	return ahead->advice == READ_SEQUENTIAL ? 2 * pages : pages;
}

static bool reads_ahead(const struct readahead *ahead)
{
	return ahead->advice != READ_RANDOM && readahead_kb * 1024 / PAGE_SIZE > 1;
}

static u32 grow(struct readahead *ahead)
{
	u32 max = pages_allowed(ahead);

	if (!ahead->size)
		return ahead->advice == READ_SEQUENTIAL ? max / 2 : MIN(4u, max);
	return MIN(2 * ahead->size, max);
}

u32 readahead_miss(struct readahead *ahead, u32 index, u32 want)
{
	want = MIN(want, MAX(readahead_kb * 1024 / PAGE_SIZE, 1u));
	if (!reads_ahead(ahead) || index != ahead->next) {
		ahead->size = 0;
		return want;
	}
	ahead->start = index;
	ahead->size = MAX(grow(ahead), want);
	return ahead->size;
}

bool readahead_follow(struct readahead *ahead, u32 index)
{
	u32 used = index - ahead->start;

	ahead->next = index + 1;
	if (!ahead->size || !reads_ahead(ahead))
		return false;
	if (used >= ahead->size || used < ahead->size / 2)
		return false;
	ahead->start += ahead->size;
	ahead->size = grow(ahead);
	return true;
}
