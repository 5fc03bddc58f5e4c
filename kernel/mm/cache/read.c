/*
 * Reading pages of a file into memory: the one that is needed, and those that will be (ahead.c, around.c).
 *
 * All pages of a request get their frames and their places in the tree, locked, before the first
 * one is requested from the device. The needed page may cause evictions. Pages that no process has
 * requested yet take no frame from a process: when memory is short they are left out.
 */
#include "internal.h"
#include "lib/assert.h"
#include "mm/policy_core.h"
#include "mm/frames.h"
#include "mm/vmstat.h"

#define MOST 64u /* pages per request */

/* Returns GFP_HIGH if a page may lie in high memory. A device's pages hold metadata, which the
 * kernel accesses at any time, so they need a kernel address. */
static gfp_t may_lie(const struct inode *inode)
{
	return is_device(inode) ? 0 : GFP_HIGH;
}

/* Adds a locked page. Returns NULL if out of memory or, with *err -EEXIST, if there is a page now. */
static struct page *add_page(struct inode *inode, u32 index, gfp_t gfp, int *err)
{
	struct page *page = cache_alloc(inode, gfp | may_lie(inode));

	*err = -ENOMEM;
	if (!page)
		return NULL;
	page_set(page, PG_locked);
	*err = cache_add(inode, index, page, gfp);
	if (!*err)
		return page;
	page_clear(page, PG_locked);
	page_put(page);
	return NULL;
}

/* Adds the missing pages from `first` on, up to the end of the file. Returns their number. */
static u32 add_ahead(struct inode *inode, u32 first, u32 nr, struct page **pages)
{
	u64 end = (inode->size + PAGE_SIZE - 1) >> PAGE_SHIFT;
	u32 n = 0;
	int err;

	for (u32 i = 0; i < nr && first + i < end && n < MOST; i++) {
		struct page *page;
		struct page_id id;

		if (cache_find(inode, first + i))
			continue;
		page = add_page(inode, first + i, GFP_ATOMIC, &err);
		if (!page)
			break;
		page_set(page, PG_readahead);
		stat_count(file_ra);
		id = page_id_of(page);
		policy_call_insert(page, NULL, VM_IN_PREFETCH, id);
		pages[n++] = page;
	}
	return n;
}

static void start(struct inode *inode, struct page **pages, u32 nr)
{
	struct io_plan plan = { .inode = inode };

	for (u32 i = 0; i < nr; i++)
		io_begin_read(pages[i]);
	for (u32 i = 0; i < nr; i++)
		io_plan_page(&plan, pages[i]);
	io_send(&plan);
	writeback_disk_runs();
}

void cache_prefetch(struct inode *inode, u32 first, u32 nr)
{
	struct page *pages[MOST];

	nr = add_ahead(inode, first, nr, pages);
	if (nr)
		start(inode, pages, nr);
}

/* Reads page index, and the missing ones of up to MOST pages from `first` on, of which it is one. Returns
 * 0, -ENOMEM, or -EEXIST if it exists. */
static int read_window(struct inode *inode, u32 index, u32 first, u32 nr)
{
	struct page *pages[MOST], *page;
	u32 n, after = first + nr - (index + 1);
	int err;

	ASSERT(first <= index && nr <= MOST && after < nr);
	page = add_page(inode, index, GFP_WAIT, &err);
	if (!page)
		return err;
	n = add_ahead(inode, first, index - first, pages);
	pages[n++] = page;
	n += add_ahead(inode, index + 1, after, pages + n);
	start(inode, pages, n);
	return 0;
}

/* Are enough frames free for a window, beyond those that kswapd keeps free? It goes on for less than a
 * batch of 32 pages after the high watermark. So what is read around costs no eviction. */
static bool frames_to_spare(const struct inode *inode)
{
	int top = may_lie(inode) ? ZONE_HIGHMEM : ZONE_NORMAL;
	u32 spare = 0;

	for (struct zone *z = zones; z <= zones + top; z++)
		spare += z->nr_free - MIN(z->nr_free, z->keep[zone_keep(WMARK_HIGH, top)]);
	return spare >= 32 + READAROUND_MAX;
}

/* Drops a page that could not be read. */
static void discard(struct page *page)
{
	page_lock(page);
	if (page->inode && !page_test(page, PG_uptodate) && !page_test(page, PG_isolated))
		cache_remove(page);
	page_unlock(page);
}

/* Returns 0 if the page is up to date, -EAGAIN if it has left the cache, or -EIO. */
static int wait_read(const struct inode *inode, struct page *page)
{
	page_wait_unlocked(page);
	if (page->inode != inode)
		return -EAGAIN;
	if (page_test(page, PG_uptodate))
		return 0;
	discard(page);
	return -EIO;
}

static int read_shmem(struct inode *inode, u32 index, struct readahead *ahead, struct page **found,
		      bool *major)
{
	u64 at = (u64)index << PAGE_SHIFT;
	int err;

	if (at >= inode->size)
		return -EINVAL;
	ahead->next = index + 1;
	err = shmem_get_page(inode, index, GFP_USER, ahead->advice == READ_RANDOM, found, major);
	if (err || at < inode->size)
		return err;
	page_put(*found); /* the file has become shorter meanwhile */
	return -EINVAL;
}

/* Returns the number of pages to read for one that is not resident; *first: where the window begins. */
static u32 miss(const struct inode *inode, u32 index, u32 want, struct readahead *ahead, u32 *first)
{
	*first = index;
	if (ahead->mapped)
		return readaround_miss(ahead, index, frames_to_spare(inode), first);
	return readahead_miss(ahead, index, want);
}

/* Call when page `index` is used. Reads the next window if it is time. */
static void follow(struct inode *inode, u32 index, struct readahead *ahead, bool missed)
{
	bool due;

	if (ahead->mapped)
		due = readaround_follow(ahead, index, missed, frames_to_spare(inode));
	else
		due = readahead_follow(ahead, index);
	if (due)
		cache_prefetch(inode, ahead->start, ahead->size);
}

int cache_read_page(struct inode *inode, u32 index, u32 want, struct readahead *ahead,
		    struct page **found, bool *major)
{
	bool again = false, alone = false; /* a clustered read failed: because of this page? */
	bool missed = false;

	if (is_shmem(inode))
		return read_shmem(inode, index, ahead, found, major);
	for (;;) {
		struct page *page = cache_find(inode, index);
		int err;

		if ((u64)index << PAGE_SHIFT >= inode->size)
			return -EINVAL;
		if (!page) {
			u32 first = index, nr = again ? 1 : miss(inode, index, want, ahead, &first);

			err = read_window(inode, index, first, nr);
			if (err && err != -EEXIST)
				return err;
			alone = !err && nr == 1;
			*major = missed = !err;
			continue;
		}
		page_get(page);
		follow(inode, index, ahead, missed);
		err = wait_read(inode, page);
		*found = page;
		if (!err)
			return 0;
		page_put(page);
		if (err != -EAGAIN && alone)
			return err;
		again |= err == -EIO;
	}
}

int cache_make_blocks(struct page *page, u32 off, u32 n)
{
	struct inode *inode = page->inode;
	u32 bits = inode->block_bits, first = page->file_index << (PAGE_SHIFT - bits);
	u32 from = first + (off >> bits), end = first + ((off + n - 1) >> bits) + 1;
	struct extent e;

	if (page_test(page, PG_placed))
		return 0;
	for (u32 block = from; block < end; block += e.blocks) {
		int err = inode->cache.ops->map(inode, block, end - block, true, &e);

		if (err)
			return err;
	}
	if (end - from == PAGE_SIZE >> bits)
		page_set(page, PG_placed);
	return 0;
}
