/* Each window has as many pages more than the one before it as the first one has: 4, 8, 12, and up to the limit. */
#include "internal.h"

#define STEP 4u

static u32 limit(void)
{
	u32 pages = readahead_kb / (PAGE_SIZE / 1024);

	return pages ? pages : 1;
}

static bool may_guess(const struct readahead *ahead)
{
	return ahead->advice != READ_RANDOM && limit() > 1;
}

static u32 window_after(const struct readahead *ahead, u32 size)
{
	if (ahead->advice == READ_SEQUENTIAL)
		return size ? 2 * limit() : limit();
	return MIN(size + STEP, limit());
}

u32 readahead_miss(struct readahead *ahead, u32 index, u32 want)
{
	u32 nr = MIN(want, limit());

	if (ahead->next != index || !may_guess(ahead)) {
		ahead->size = 0;
		return nr;
	}
	nr = MAX(nr, window_after(ahead, ahead->size));
	ahead->size = nr;
	ahead->start = index;
	return nr;
}

bool readahead_follow(struct readahead *ahead, u32 index)
{
	ahead->next = index + 1;
	if (!ahead->size || !may_guess(ahead) || index < ahead->start ||
	    index >= ahead->start + ahead->size)
		return false;
	ahead->start += ahead->size;
	ahead->size = window_after(ahead, ahead->size);
	return true;
}
