/* What the files of mm/cache share among themselves. */
#ifndef CACHE_INTERNAL_H
#define CACHE_INTERNAL_H

#include "arch/uaccess.h"
#include "errno.h"
#include "fs/vfs.h"
#include "mm/cache.h"
#include "mm/page.h"
#include "mm/zone.h"

#define ALL_SECTORS 0xFFu

/* cache.c: pages by number. */

/* An entry of the tree is a page, or the shadow of one: when it was evicted, in evictions. */
static inline bool is_shadow(const void *item)
{
	return (uintptr_t)item & 1;
}

/* The page, without a reference; NULL: it is not in memory. */
static inline struct page *cache_find(const struct inode *inode, u32 index)
{
	void *item = radix_find(&inode->cache.pages, index);

	return likely(!is_shadow(item)) ? item : NULL;
}

/* Is it up to date, and nobody at work on it? */
static inline bool page_is_ready(const struct page *page)
{
	return (page->flags & (1u << PG_locked | 1u << PG_uptodate)) == 1u << PG_uptodate;
}

/* The page's reference goes to the cache. 0, -EEXIST, -ENOMEM; sleeps for memory as gfp says. */
int cache_add(struct inode *inode, u32 index, struct page *page, gfp_t gfp);
/* Takes the page out of the cache, whose reference goes; it is mapped nowhere and not being written. */
void cache_remove(struct page *page);

/* Pages of files without a store, and how many there may be. */
extern u32 cache_nr_kept, cache_max_kept;

static inline bool cache_may_grow(void)
{
	return cache_nr_kept < cache_max_kept;
}

/* Those that there are now are the boot archive's. */
void cache_boot_done(void);
/* cache_shrink from first to last. */
u32 cache_shrink_range(struct inode *inode, u32 first, u32 last);

/* For shmem.c. The page is now the inode's at that number; and no longer, its place is taken. */
void cache_describe(struct inode *inode, u32 index, struct page *page);
void cache_take_out(struct page *page);
/* Empties a number of the tree, and tells the policy. */
void cache_forget_index(struct inode *inode, u32 index);

/* shmem.c: shared memory. */

static inline bool is_shmem(const struct inode *inode)
{
	return inode->cache.ops == &shmem_ops;
}

/* A page with a reference, read back from the swap area, or made of a hole. alone: without reading
 * ahead. 0, -ENOMEM, -ENOSPC, -EIO. May sleep. */
int shmem_get_page(struct inode *inode, u32 index, gfp_t gfp, bool alone, struct page **page,
		   bool *major);
/* Of one page, whatever was there. 0, -EFAULT, or as above. */
int shmem_write(struct inode *inode, u32 index, u32 off, const char *user, u32 n);
/* Starts reading what is in the swap area. */
void shmem_will_need(struct inode *inode, u32 first, u32 nr);
/* Into the swap area, where a copy is; never sleeps. */
void shmem_evict(struct page *page);
/* The item of that number goes for good. */
void shmem_drop(struct inode *inode, u32 index, void *item);
/* The file ends at size now. May sleep. */
void shmem_clear_tail(struct inode *inode, u64 size);

/* copy.c: between a page and the user, from or at off: 0 or -EFAULT. May sleep. */
int high_to_user(struct page *page, u32 off, char *user, u32 n);
int high_from_user(struct page *page, u32 off, const char *user, u32 n);

static inline bool page_is_low(const struct page *page)
{
	return likely(page_zone_index(page) != ZONE_HIGHMEM);
}

static inline int page_to_user(struct page *page, u32 off, char *user, u32 n)
{
	if (page_is_low(page))
		return copy_to_user(user, (char *)page_address(page) + off, n);
	return high_to_user(page, off, user, n);
}

static inline int page_from_user(struct page *page, u32 off, const char *user, u32 n)
{
	if (page_is_low(page))
		return copy_from_user((char *)page_address(page) + off, user, n);
	return high_from_user(page, off, user, n);
}

/* The same with the kernel's memory; never sleeps. */
void page_read(struct page *page, u32 off, void *to, u32 n);
void page_write(struct page *page, u32 off, const void *from, u32 n);
void page_zero(struct page *page, u32 off, u32 n);

/* stored.c: of one page. 0 or -errno; may sleep. left: bytes that the reader needs from off on. */
int stored_read(struct file *f, u32 index, u32 off, char *user, u32 n, u32 left);
int stored_write(struct inode *inode, u32 index, u32 off, const char *user, u32 n);
/* After a write. If it failed: what it left behind the end, bytes and blocks, goes. */
void stored_end(struct inode *inode, int err);

/* io.c: between pages and the device. */

static inline bool is_device(const struct inode *inode)
{
	return (inode->mode & S_IFMT) == S_IFBLK;
}

/* What is to be read or written next: pieces whose sectors follow one another. */
struct io_plan {
	struct inode *inode;
	bool write;
	u32 end; /* the sector after the last piece */
	u32 nr;
	struct {
		struct page *page;
		u32 offset, bytes;
	} piece[32];
	u32 first; /* reading: the block that extent begins with */
	struct extent extent;
};

/* Plans what of a page lies on the device; the page was begun, and ends when all of that is over. 0, or the
 * error that it ends with; -ENOMEM: none, a page to be written is dirty again. */
int io_plan_page(struct io_plan *plan, struct page *page);
/* Sends what is planned. Sleeps until there is a bio. */
void io_send(struct io_plan *plan);

/* Begins a read of a locked page that is in the cache. In the end it is up to date, or PG_error, and
 * unlocked. */
void io_begin_read(struct page *page);
/* Begins a write of a dirty page that is not locked and not being written; false: it is none.
 * Never sleeps. */
bool io_begin_write(struct page *page);

/* dirty.c */

/* As cache_set_dirty; also from interrupts. True: it was clean before. */
bool cache_mark_dirty(struct page *page, u32 sectors);
/* Interrupts are off: the page is not dirty any more. */
void cache_clean(struct page *page);
/* These sectors are not dirty any more; the page is clean if no others are. */
void cache_clean_sectors(struct page *page, u32 sectors);
/* Writes up to max dirty pages from first to last. wait: also those that are locked or being
 * written, when that is over; else they stay dirty. Pages whose writes have begun. May sleep. */
u32 cache_write_range(struct inode *inode, u32 first, u32 last, u32 max, bool wait);

/* cache_sync from page first to last. */
int cache_sync_range(struct inode *inode, u32 first, u32 last);

/* Until nobody is in cache_write_range. The pages are gone already, so that nobody begins. */
void cache_wait_writers(struct inode *inode);

/* direct.c: past the cache. inode->lock is held. */

/* Writes [*at, *at + n) from the user as far as that goes, and moves *at. 0: what is left, if any, is
 * for the cache; -EINVAL: no whole sectors; -EFAULT, -EIO, -ENOMEM, -ENOSPC. May sleep. */
int direct_write(struct inode *inode, const char *user, u32 n, u32 *at);
/* That was left, [from, end), and has been written by way of the cache: it leaves that, too. 0 or -EIO. */
int direct_settle(struct inode *inode, u32 from, u32 end);

/* What lies behind 4 GiB of a device is not reached. */
static inline u32 cache_end_of(const struct inode *inode)
{
	return likely(!(inode->size >> 32)) ? (u32)inode->size : CACHE_MAX_SIZE;
}

/* read.c */

/* The page with a reference, up to date. want: so many pages from here on are needed. *major: it
 * had to be read. 0, -EINVAL beyond the end, -ENOMEM, -EIO. Sleeps. */
int cache_read_page(struct inode *inode, u32 index, u32 want, struct readahead *ahead,
		    struct page **page, bool *major);
/* Starts reading pages that are not there, as far as memory is free. */
void cache_prefetch(struct inode *inode, u32 first, u32 nr);
/* Finds each block of [off, off + n) of a locked page its place. 0, -ENOSPC, -EIO. */
int cache_make_blocks(struct page *page, u32 off, u32 n);

/* ahead.c: what to read ahead. */

/* The page is not there and want pages are needed: how many to read, from index on. */
u32 readahead_miss(struct readahead *ahead, u32 index, u32 want);
/* The page is used: shall the next window be read? It is ahead->start and size then. */
bool readahead_follow(struct readahead *ahead, u32 index);

/* uses.c */

/* writeback.c */

/* A page has become dirty. */
void writeback_note(void);
/* After writing to a file: waits while too much is dirty. */
void writeback_throttle(struct page_cache *cache);
/* irq: a write of a page has ended. */
void writeback_progress(bool written);
/* Is too much dirty, and the file one that cannot be written? Then nothing more goes into it. */
bool writeback_hopeless(const struct page_cache *cache);
/* A file was read from its device (laptop_mode). */
void writeback_disk_runs(void);
extern struct list_head dirty_caches; /* irq: of page_cache.dirty, the oldest first */

#endif
