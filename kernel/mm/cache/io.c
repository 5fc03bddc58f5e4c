/*
 * Transfers between pages and the device.
 *
 * A page has several blocks, which may lie anywhere or nowhere (holes). So reading or writing pages makes
 * a list of pieces. Pieces with consecutive sectors become one bio, of several pages if the file is
 * contiguous on the device. The list is sent when the next piece does not continue it. A task with pieces
 * in its list must wait neither for a page's lock nor for a write, because another task may be waiting for
 * these pieces. When it writes, it must not wait for memory either, since tasks that hold memory may wait
 * for that write: where a page lies is found with reserve frames; if there are none, the page stays dirty.
 *
 * A page is done when its last piece is, in an interrupt. nr_io counts the pieces, plus one while
 * they are still being planned.
 */
#include "arch/irq.h"
#include "drivers/block.h"
#include "internal.h"
#include "lib/assert.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/vmstat.h"

#define EXTENT_ASKED 256u /* blocks per question to the file system, when reading */

/* The end of reading or writing a page. Called in irq context or with interrupts off. */

static void end_read(struct page *page)
{
	if (!page_test(page, PG_error))
		page_set(page, PG_uptodate);
	page_unlock(page);
}

/* After an error the page is dirty again, and reclaim, if it waits, sees PG_error. But if the
 * device is dead, the page must not stay dirty, since it would occupy memory forever. */
static void write_failed(struct page *page)
{
	struct page_cache *cache = &page->inode->cache;

	cache->errors++;
	if (!block_is_dead(cache->bdev)) {
		cache_mark_dirty(page, page->writing);
		return;
	}
	cache->bdev->nr_lost++;
	page_clear(page, PG_error);
}

static void end_write(struct page *page)
{
	struct page_cache *cache = &page->inode->cache;
	bool failed = page_test(page, PG_error);

	cache->failing = failed;
	if (failed)
		write_failed(page);
	page->writing = 0;
	radix_clear_tag(&cache->pages, page->file_index, RADIX_WRITEBACK);
	cache->nr_writeback--;
	cache_nr_writeback--;
	page_end_writeback(page);
	page_wake(page);
	if (page_test_and_clear(page, PG_reclaim))
		reclaim_write_done(page);
	else if (failed)
		page_clear(page, PG_error);
	writeback_progress(!failed);
}

static void piece_over(struct page *page, bool write)
{
	if (--page->nr_io)
		return;
	if (write)
		end_write(page);
	else
		end_read(page);
}

static void bio_over(struct bio *bio)
{
	for (u32 i = 0; i < bio->nr; i++) {
		if (bio->error)
			page_set(bio->piece[i].page, PG_error);
		piece_over(bio->piece[i].page, bio->write);
	}
	bio_put(bio);
}

/* Planning. */

void io_send(struct io_plan *plan)
{
	u32 sectors = 0, nr = plan->nr;
	struct bio *bio;

	if (!nr)
		return;
	for (u32 i = 0; i < nr; i++)
		sectors += plan->piece[i].bytes / SECTOR_SIZE;
	bio = bio_get(plan->inode->cache.bdev, plan->end - sectors, plan->write,
		      is_device(plan->inode) ? BIO_META : BIO_DATA, bio_over);
	for (u32 i = 0; i < nr; i++)
		bio_add(bio, plan->piece[i].page, plan->piece[i].offset, plan->piece[i].bytes);
	plan->nr = 0;
	if (plan->write)
		stat_add(pgpgout, sectors / 2);
	else
		stat_add(pgpgin, sectors / 2);
	block_submit(bio);
}

static void add_piece(struct io_plan *plan, struct page *page, u32 off, u32 bytes, u32 sector)
{
	unsigned long flags;

	if (plan->nr && (sector != plan->end || plan->nr == ARRAY_SIZE(plan->piece)))
		io_send(plan);
	flags = irq_save();
	page->nr_io++;
	irq_restore(flags);
	plan->piece[plan->nr].page = page;
	plan->piece[plan->nr].offset = off;
	plan->piece[plan->nr++].bytes = bytes;
	plan->end = sector + bytes / SECTOR_SIZE;
}

STATIC_ASSERT(ARRAY_SIZE(((struct io_plan *)0)->piece) == BIO_MAX_PIECES);

/*
 * Finds a block on the device and the number of blocks contiguous with it. Blocks that the file
 * system reported beyond the requested ones are used only when reading: then their pages are
 * locked, so no other task can allocate other blocks for them meanwhile.
 */
static int find_blocks(struct io_plan *plan, u32 block, u32 max, struct extent *e)
{
	struct inode *inode = plan->inode;
	u32 ahead = block - plan->first;
	int err;

	if (plan->write)
		return inode->cache.ops->map(inode, block, max, false, e);
	if (!plan->extent.blocks || ahead >= plan->extent.blocks) {
		err = inode->cache.ops->map(inode, block, EXTENT_ASKED, false, &plan->extent);
		if (err)
			return err;
		plan->first = block;
		ahead = 0;
	}
	*e = plan->extent;
	e->blocks -= ahead;
	if (e->sector || is_device(inode))
		e->sector += ahead << inode->block_bits >> SECTOR_SHIFT;
	return 0;
}

/* Number of consecutive blocks from i on, below end, whose sectors are in the mask; 0: not even the first. */
static u32 run_of_blocks(u32 i, u32 end, u32 bits, u32 mask)
{
	u32 n = 0;

	while (i + n < end && mask >> ((i + n) << bits >> SECTOR_SHIFT) & 1)
		n++;
	return n;
}

static int plan_blocks(struct io_plan *plan, struct page *page, u32 end, u32 mask)
{
	u32 bits = plan->inode->block_bits, first = page->file_index << (PAGE_SHIFT - bits);
	struct extent e;

	for (u32 i = 0, n; i < end; i += n) {
		int err;

		n = run_of_blocks(i, end, bits, mask);
		if (!n) {
			n = 1;
			continue;
		}
		err = find_blocks(plan, first + i, n, &e);
		if (err)
			return err;
		n = MIN(n, e.blocks);
		if (e.sector || is_device(plan->inode))
			add_piece(plan, page, i << bits, n << bits, e.sector);
		else if (!plan->write)
			page_zero(page, i << bits, n << bits);
	}
	return 0;
}

/* Data that a mapping has written after the end of the file do not reach the device. */
int io_plan_page(struct io_plan *plan, struct page *page)
{
	struct inode *inode = plan->inode;
	u64 at = (u64)page->file_index << PAGE_SHIFT,
	    size = MAX(inode->size, (u64)inode->cache.reach);
	u32 bytes = size > at ? MIN(size - at, (u64)PAGE_SIZE) : 0;
	u32 end = ALIGN_UP(bytes, 1u << inode->block_bits) >> inode->block_bits;
	u32 mask = plan->write ? page->writing : ALL_SECTORS;
	unsigned long flags;
	int err;

	if (bytes < PAGE_SIZE && !is_device(inode) && plan->write)
		page_zero(page, bytes, PAGE_SIZE - bytes);
	err = plan_blocks(plan, page, end, mask);
	if (!plan->write && end << inode->block_bits < PAGE_SIZE)
		page_zero(page, end << inode->block_bits, PAGE_SIZE - (end << inode->block_bits));
	flags = irq_save();
	if (err == -ENOMEM && plan->write)
		cache_mark_dirty(page, page->writing);
	else if (err)
		page_set(page, PG_error);
	piece_over(page, plan->write);
	irq_restore(flags);
	return err;
}

/* The start of reading or writing a page. */

void io_begin_read(struct page *page)
{
	page->nr_io = 1;
}

static void protect_entry(struct rmap_entry *e, void *arg)
{
	(void)arg;
	if (!pte_write(*e->pte))
		return;
	*e->pte = pte_mkclean(pte_wrprotect(*e->pte));
	tlb_flush_page(e->mm->pgd, e->addr);
}

void cache_protect(struct page *page)
{
	rmap_walk(page, protect_entry, NULL);
}

bool io_begin_write(struct page *page)
{
	u32 needed = 1u << PG_dirty, not = 1u << PG_locked | 1u << PG_writeback;
	struct page_cache *cache;
	unsigned long flags = irq_save();

	if (!page->inode || (page->flags & (needed | not)) != needed) {
		irq_restore(flags);
		return false;
	}
	cache = &page->inode->cache;
	page->writing = page->sectors;
	cache_clean(page);
	page->nr_io = 1;
	page_clear(page, PG_error);
	page_set(page, PG_writeback);
	radix_set_tag(&cache->pages, page->file_index, RADIX_WRITEBACK);
	cache->nr_writeback++;
	cache_nr_writeback++;
	irq_restore(flags);
	cache_protect(page);
	return true;
}
