/*
 * Read-ahead: which pages to read before a reader requests them. Decisions only; read.c does the reading.
 *
 * A reader that requests the page after the one it used last reads sequentially: a window of pages is
 * read at once, each window twice as large as the one before, up to 128 KiB. When the reader comes to the
 * first page of a window, the next window is requested, so that the device works in parallel. A reader
 * that requests another page reads randomly: only the requested pages are read, and the window starts
 * anew. Page faults read differently (around.c). With vm.readahead_kb=0 each page is read alone, also those
 * that one call requests. (This is the design of Linux's mm/readahead.c without its context search and its
 * marked page.)
 */
#include "internal.h"

#define MIN_WINDOW 4u

/* lab: decisions */
/* Returns the largest window in pages, at least 1. */
static u32 most_ahead(void)
{
	return MAX(readahead_kb * 1024 / PAGE_SIZE, 1u);
}

static u32 largest(const struct readahead *ahead)
{
	return ahead->advice == READ_SEQUENTIAL ? 2 * most_ahead() : most_ahead();
}

static u32 next_size(const struct readahead *ahead)
{
	u32 first = ahead->advice == READ_SEQUENTIAL ? most_ahead() : MIN(MIN_WINDOW, most_ahead());

	return ahead->size ? MIN(2 * ahead->size, largest(ahead)) : first;
}

u32 readahead_miss(struct readahead *ahead, u32 index, u32 want)
{
	bool sequence = index == ahead->next && ahead->advice != READ_RANDOM && most_ahead() > 1;

	want = MIN(want, most_ahead());
	if (!sequence) {
		ahead->size = 0;
		return want;
	}
	ahead->size = MAX(next_size(ahead), want);
	ahead->start = index;
	return ahead->size;
}

bool readahead_follow(struct readahead *ahead, u32 index)
{
	bool entered = ahead->size && index - ahead->start < ahead->size;

	ahead->next = index + 1;
	if (!entered || ahead->advice == READ_RANDOM)
		return false;
	ahead->start += ahead->size;
	ahead->size = next_size(ahead);
	return true;
}
/* lab: end */
