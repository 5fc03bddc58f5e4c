/*
 * Dirty pages: marking them, and writing them in the order of the file. writeback.c decides which
 * files are written when.
 */
#include "arch/irq.h"
#include "arch/time.h"
#include "internal.h"
#include "mm/reclaim.h"
#include "mm/frames.h"
#include "sched/current.h"
#include "sched/wait.h"

#define AROUND 16u /* pages on each side of a page that reclaim writes together with it */

u32 cache_nr_dirty, cache_nr_writeback;
void (*cache_commit)(struct inode *device);

static WAIT_QUEUE(writers_gone);

void cache_wait_writers(struct inode *inode)
{
	wait_event(&writers_gone, !inode->cache.nr_writers);
}

bool cache_mark_dirty(struct page *page, u32 sectors)
{
	struct page_cache *cache = &page->inode->cache;
	unsigned long flags = irq_save();
	bool new = !page_test(page, PG_dirty);

	page_set(page, PG_dirty);
	if (page_test(page, PG_shmem)) {
		irq_restore(flags);
		return new;
	}
	page->sectors |= sectors;
	if (new) {
		radix_set_tag(&cache->pages, page->file_index, RADIX_DIRTY);
		cache_nr_dirty++;
		if (!cache->nr_dirty++) {
			cache->dirtied_ns = clock_ns();
			list_add_tail(&cache->dirty, &dirty_caches);
		}
	}
	irq_restore(flags);
	return new;
}

void cache_set_dirty(struct page *page, u32 sectors)
{
	if (cache_mark_dirty(page, sectors))
		writeback_note();
}

void cache_clean(struct page *page)
{
	struct page_cache *cache = &page->inode->cache;

	if (!page_test_and_clear(page, PG_dirty))
		return;
	page->sectors = 0;
	radix_clear_tag(&cache->pages, page->file_index, RADIX_DIRTY);
	cache_nr_dirty--;
	if (--cache->nr_dirty)
		return;
	list_del_init(&cache->dirty);
}

void cache_clean_sectors(struct page *page, u32 sectors)
{
	unsigned long flags = irq_save();

	page->sectors &= ~sectors;
	if (!page->sectors)
		cache_clean(page);
	irq_restore(flags);
}

/* Waits if the page is locked or being written. Returns true if that slept: the caller must look again. */
static bool wait_for(struct io_plan *plan, struct page *page)
{
	if (!page_test(page, PG_locked) && !page_test(page, PG_writeback))
		return false;
	io_send(plan);
	page_wait_unlocked(page);
	page_wait_writeback(page);
	return true;
}

/* Returns 1 if the write has begun, 0 if the page need not be written, or -ENOMEM. */
static int write_page(struct io_plan *plan, struct page *page)
{
	int err;

	if (!io_begin_write(page))
		return 0;
	current->flags |= TF_WRITING;
	err = io_plan_page(plan, page);
	current->flags &= ~TF_WRITING;
	return err == -ENOMEM ? err : 1;
}

/* Sends what was begun, then waits until memory is free. If none becomes free, that counts as an error. */
static bool memory_comes(struct io_plan *plan)
{
	struct page *some;

	io_send(plan);
	some = alloc_page(GFP_KERNEL);
	if (some)
		page_put(some);
	else
		plan->inode->cache.errors++;
	return some;
}

u32 cache_write_range(struct inode *inode, u32 first, u32 last, u32 max, bool wait)
{
	struct io_plan plan = { .inode = inode, .write = true };
	struct page *page;
	int begun = 0;
	u32 nr = 0;

	if (unlikely(inode->cache.held))
		return 0;
	inode->cache.nr_writers++;
	while (nr < max && (begun >= 0 || (wait && memory_comes(&plan))) &&
	       (page = radix_next_tagged(&inode->cache.pages, &first, RADIX_DIRTY)) &&
	       first <= last) {
		page_get(page);
		begun = 0;
		if (!(wait && wait_for(&plan, page))) {
			begun = write_page(&plan, page);
			nr += begun > 0;
			first += begun >= 0;
		}
		page_put(page);
	}
	io_send(&plan);
	if (!--inode->cache.nr_writers)
		wake_up(&writers_gone);
	return nr;
}

static void wait_written(struct inode *inode, u32 at, u32 last)
{
	struct page *page;

	while ((page = radix_next_tagged(&inode->cache.pages, &at, RADIX_WRITEBACK)) &&
	       at <= last) {
		page_get(page);
		page_wait_writeback(page);
		page_put(page);
		at++;
	}
}

int cache_sync_range(struct inode *inode, u32 first, u32 last)
{
	u32 before = inode->cache.errors;

	if (inode->cache.nr_dirty && unlikely(inode->cache.held))
		cache_commit(inode);
	else if (inode->cache.nr_dirty)
		cache_write_range(inode, first, last, ~0u, true);
	if (inode->cache.nr_writeback)
		wait_written(inode, first, last);
	return inode->cache.errors == before ? 0 : -EIO;
}

int cache_sync(struct inode *inode)
{
	return cache_sync_range(inode, 0, ~0u);
}

int cache_sync_file(struct file *f)
{
	struct page_cache *cache = &f->inode->cache;
	int err = cache_sync(f->inode);

	if (f->errors_told != cache->errors)
		err = -EIO;
	f->errors_told = cache->errors_told = cache->errors;
	return err;
}

/* Reclaim. */

/* The first (step -1) or last (step 1) of the consecutive dirty pages around index. */
static u32 dirty_border(const struct inode *inode, u32 index, int step)
{
	for (u32 n = 0; n < AROUND && index + step < CACHE_MAX_SIZE >> PAGE_SHIFT; n++) {
		if (!radix_has_tag(&inode->cache.pages, index + step, RADIX_DIRTY))
			break;
		index += step;
	}
	return index;
}

void cache_write_for_reclaim(struct page *page)
{
	struct inode *inode = page->inode;
	u32 index = page->file_index;
	unsigned long flags = irq_save();
	bool writing = page_test(page, PG_writeback);

	page_set(page, PG_reclaim);
	irq_restore(flags);
	if (writing)
		return;
	cache_write_range(inode, dirty_border(inode, index, -1), dirty_border(inode, index, 1),
			  2 * AROUND + 1, false);
	flags = irq_save();
	if (!page_test(page, PG_writeback) && page_test_and_clear(page, PG_reclaim))
		reclaim_write_done(page); /* the page was clean, or could not be written */
	irq_restore(flags);
}
