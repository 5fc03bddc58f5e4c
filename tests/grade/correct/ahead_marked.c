/*
 * As in Linux: start and size are the part of the last window that no call has needed yet, and its first page is the
 * mark. The reader that comes to the mark requests the next window.
 */
#include "internal.h"

#define FIRST 4u

static u32 most(void)
{
	return MAX(readahead_kb / (PAGE_SIZE / 1024), 1u);
}

static u32 grown(const struct readahead *ahead, u32 size)
{
	u32 max = ahead->advice == READ_SEQUENTIAL ? 2 * most() : most();

	return size <= max / 2 ? 2 * size : max;
}

u32 readahead_miss(struct readahead *ahead, u32 index, u32 want)
{
	u32 window = ahead->advice == READ_SEQUENTIAL ? most() : MIN(FIRST, most());

	want = MIN(want, most());
	if (ahead->advice == READ_RANDOM || index != ahead->next || most() == 1) {
		ahead->size = 0;
		return want;
	}
	window = MAX(window, want);
	ahead->size = window - want; /* 0: there is no mark */
	ahead->start = index + want;
	return window;
}

bool readahead_follow(struct readahead *ahead, u32 index)
{
	bool marked = ahead->size && index == ahead->start;

	ahead->next = index + 1;
	if (!marked || ahead->advice == READ_RANDOM)
		return false;
	ahead->start += ahead->size;
	ahead->size = grown(ahead, MAX(ahead->size, FIRST));
	return true;
}
