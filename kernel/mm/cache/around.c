/*
 * Read-around: which pages to read when a page of a mapped file is not resident. Decisions only;
 * read.c does the reading. The source is Linux 6.1, mm/filemap.c: do_sync_mmap_readahead and
 * do_async_mmap_readahead.
 *
 * A program that starts does not fault on its pages in order: functions call one another across the
 * file. But functions that lie close together are often needed together. So a fault on a page that
 * is not resident reads a window around it: half before the page, half from it on.
 *
 *	first            index           mark    end
 *	|  16 pages      |  8 pages      |  8 pages  |		vm.readaround_kb=128
 *
 * The last quarter of the window serves programs that do read in order. The fault on its first page,
 * the mark, requests the next window (readahead_follow), so that the device works in parallel.
 *
 * Reading around pays off only if later faults hit the pages that it brought. A region counts its
 * misses, and each hit takes one away. While there are more than 100, only the requested page is
 * read. The count ends at 1,000, so that a new phase of the program can work it off.
 * madvise(MADV_RANDOM) forbids read-around, too. After MADV_SEQUENTIAL, or if the parameter is 0,
 * faults are treated as reads (ahead.c).
 *
 * No page is evicted to read around. When memory is short, or misses are many, only faults on
 * consecutive pages read ahead, as reads do.
 *
 * Differences from Linux. The misses are counted for each region, not for each open file. Here the
 * first use of a page that was read ahead is always a fault, so all hits count; Linux's fault-around
 * hides many. The mark is a number, not a flag of the page, so only the last window has one. The
 * window after the mark has 16 pages, and only later ones have 32.
 */
#include "internal.h"
#include "lib/param.h"

#define LOTS_OF_MISSES 100u
#define MOST_MISSES (10 * LOTS_OF_MISSES)

/* Belongs to ahead.c. It is here because a file that students write may not declare parameters. */
u32 readahead_kb = READAHEAD_MAX * PAGE_SIZE / 1024;
PARAM_U32("vm.readahead_kb", readahead_kb, 0, READAHEAD_MAX *PAGE_SIZE / 1024, "KiB",
	  "largest window that a reader of a file has read ahead; 0: each page is read alone");

static u32 readaround_kb = 128;
PARAM_U32("vm.readaround_kb", readaround_kb, 0, READAROUND_MAX *PAGE_SIZE / 1024, "KiB",
	  "read at a fault, around the page of a mapped file; 0: only read-ahead");

static u32 window(const struct readahead *ahead)
{
	return ahead->advice == READ_NORMAL ? readaround_kb * 1024 / PAGE_SIZE : 0;
}

u32 readaround_miss(struct readahead *ahead, u32 index, bool spare, u32 *first)
{
	u32 nr = window(ahead);

	*first = index;
	if (nr)
		ahead->misses += ahead->misses < MOST_MISSES;
	if (!nr || !spare || ahead->misses > LOTS_OF_MISSES)
		return readahead_miss(ahead, index, 1);
	*first = index - MIN(index, nr / 2);
	ahead->size = nr / 4;
	ahead->start = *first + nr - ahead->size;
	return nr;
}

bool readaround_follow(struct readahead *ahead, u32 index, bool missed, bool spare)
{
	bool marked = ahead->size && index == ahead->start && spare;

	ahead->misses -= !missed && ahead->misses;
	if (marked || index == ahead->next || !window(ahead))
		return readahead_follow(ahead, index);
	ahead->next = index + 1;
	return false;
}
