/*
 * Device files, and blocks of metadata.
 *
 * The file of a device (/dev/sda) consists of its sectors: page n holds the bytes from n * 4096 on,
 * up to the end of the device. A file system keeps its metadata in these pages. They lie in low
 * memory, so that a block has an address. Each page knows which of its sectors are dirty, and only
 * these are written: next to a block of metadata there may be data of a file, and that file's own
 * cache may hold newer data than this page.
 *
 * A file system with a log holds its dirty metadata in memory until it commits them. Then neither the flusher
 * nor reclaim writes them. The log's own blocks are moved past the cache.
 */
#include "drivers/block.h"
#include "internal.h"
#include "lib/assert.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "sched/current.h"
#include "sched/timer.h"

#define MEMORY_TRIES 20u
#define FREEING_TRIES 500u /* the out-of-memory killer gives each victim a second (oom.c) */
#define MEMORY_PAUSE_NS 10000000u

static int device_map(struct inode *inode, u32 block, u32 max, bool create, struct extent *e)
{
	u32 sectors = inode->cache.bdev->nr_sectors;

	(void)create;
	ASSERT(block < sectors); /* no caller goes beyond the file's size */
	*e = (struct extent){ .sector = block, .blocks = MIN(max, sectors - block) };
	return 0;
}

static const struct cache_ops device_ops = { .map = device_map };

void cache_init_device(struct inode *inode, struct block_device *bdev)
{
	inode->cache.ops = &device_ops;
	inode->cache.bdev = bdev;
	inode->block_bits = SECTOR_SHIFT;
	inode->size = (u64)bdev->nr_sectors << SECTOR_SHIFT;
	bdev->inode = inode;
}

static u32 offset_of(const struct buf *b)
{
	return b->block * b->size & (PAGE_SIZE - 1);
}

static u32 sectors_of(const struct buf *b)
{
	u32 first = offset_of(b) >> SECTOR_SHIFT;

	return ((1u << (b->size >> SECTOR_SHIFT)) - 1) << first;
}

static u32 page_of(const struct buf *b)
{
	return (u64)b->block * b->size >> PAGE_SHIFT;
}

static void describe(struct super_block *sb, u32 block, struct buf *b)
{
	*b = (struct buf){ .bdev = sb->bdev, .block = block, .size = sb->block_size };
}

/* Half of a change may have been made already, and a block that cannot be freed is lost. So this waits
 * for memory if any can become free, and tries a failed read again. But a task that is writing pages only
 * looks up where they lie, and must not wait: the tasks that hold memory may be waiting for its write. */
static int get_page(struct buf *b, u32 tries)
{
	int err = cache_get_page(b->bdev->inode, page_of(b), &b->page);

	if (err == -EIO)
		err = cache_get_page(b->bdev->inode, page_of(b), &b->page);
	while (err == -ENOMEM && !(current->flags & TF_WRITING) && tries--) {
		ksleep_ns(MEMORY_PAUSE_NS);
		err = cache_get_page(b->bdev->inode, page_of(b), &b->page);
	}
	return err;
}

int buf_read(struct super_block *sb, u32 block, struct buf *b)
{
	int err;

	describe(sb, block, b);
	err = get_page(b, sb->freeing ? FREEING_TRIES : MEMORY_TRIES);
	if (err)
		return err == -EINVAL ? -EIO : err;
	b->data = (char *)page_address(b->page) + offset_of(b);
	return 0;
}

/* Reads the page even if this block is not needed, because neighbouring blocks may be. */
int buf_new(struct super_block *sb, u32 block, struct buf *b)
{
	int err = buf_read(sb, block, b);

	if (err)
		return err;
	memset(b->data, 0, b->size);
	buf_dirty(b);
	return 0;
}

void buf_dirty(struct buf *b)
{
	cache_set_dirty(b->page, sectors_of(b));
}

void buf_put(struct buf *b)
{
	page_put(b->page);
	b->page = NULL;
}

void buf_forget(struct super_block *sb, u32 block)
{
	struct buf b;
	struct page *page;

	describe(sb, block, &b);
	page = cache_find(b.bdev->inode, page_of(&b));
	if (!page)
		return;
	page_get(page);
	page_wait_writeback(page);
	cache_clean_sectors(page, sectors_of(&b));
	page_put(page);
}

int buf_sync_all(struct block_device *bdev)
{
	return bdev->inode ? cache_sync(bdev->inode) : 0;
}

/* For a log. */

bool buf_next_dirty(struct super_block *sb, u32 from, struct buf *b)
{
	struct inode *device = sb->bdev->inode;
	u32 bits = PAGE_SHIFT - sb->block_bits, index = from >> bits;
	struct page *page;

	for (; (page = radix_next_tagged(&device->cache.pages, &index, RADIX_DIRTY)); index++)
		for (u32 block = MAX(from, index << bits); block >> bits == index; block++) {
			describe(sb, block, b);
			if (!(page->sectors & sectors_of(b)))
				continue;
			b->page = page;
			b->data = (char *)page_address(page) + offset_of(b);
			page_get(page);
			return true;
		}
	return false;
}

void buf_hold(struct block_device *bdev, bool hold)
{
	bdev->inode->cache.held = hold;
}

u32 buf_lose_all(struct block_device *bdev)
{
	struct page_cache *cache = &bdev->inode->cache;
	u32 nr = cache->nr_dirty, index = 0;
	struct page *page;

	while ((page = radix_next_tagged(&cache->pages, &index, RADIX_DIRTY)))
		cache_clean_sectors(page, ALL_SECTORS);
	return nr;
}

/* Stores the piece of memory that begins with block number `at` of it. Returns its number of blocks. */
static u32 piece_of(const struct super_block *sb, char *const *memory, u32 at, u32 nr,
		    struct bio_piece *piece)
{
	u32 bits = PAGE_SHIFT - sb->block_bits, in_page = at & ((1u << bits) - 1);

	nr = MIN(nr, (1u << bits) - in_page);
	ASSERT(!((u32)memory[at >> bits] & (PAGE_SIZE - 1)));
	*piece = (struct bio_piece){ .page = virt_page(memory[at >> bits]),
				     .offset = in_page << sb->block_bits,
				     .bytes = nr << sb->block_bits };
	return nr;
}

int buf_move(struct super_block *sb, u32 block, u32 nr, char *const *memory, u32 first, bool write)
{
	u32 bits = sb->block_bits - SECTOR_SHIFT, done = 0;
	struct bio_piece piece[BIO_MAX_PIECES];
	int err = 0;

	while (done < nr && !err) {
		u32 start = done, n = 0;

		for (; done < nr && n < BIO_MAX_PIECES; n++)
			done += piece_of(sb, memory, first + done, nr - done, &piece[n]);
		err = block_move(sb->bdev, (block + start) << bits, write, BIO_META, piece, n);
	}
	return err;
}
