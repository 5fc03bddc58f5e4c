/* Declarations that the files of mm/cache share among themselves. */
#ifndef CACHE_INTERNAL_H
#define CACHE_INTERNAL_H

#include "arch/uaccess.h"
#include "errno.h"
#include "fs/vfs.h"
#include "mm/cache.h"
#include "mm/frames.h"
#include "mm/page.h"
#include "mm/zone.h"

#define ALL_SECTORS 0xFFu

/* cache.c: pages by number. */

/* An item of the tree is a page or the shadow of an evicted page: the number of evictions at that time. */
static inline bool is_shadow(const void *item)
{
	return (uintptr_t)item & 1;
}

/* Returns the page, without a reference, or NULL if it is not resident. */
static inline struct page *cache_find(const struct inode *inode, u32 index)
{
	void *item = radix_find(&inode->cache.pages, index);

	return likely(!is_shadow(item)) ? item : NULL;
}

/* Is the page up to date and not locked? */
static inline bool page_is_ready(const struct page *page)
{
	return (page->flags & (1u << PG_locked | 1u << PG_uptodate)) == 1u << PG_uptodate;
}

/* Adds the page; its reference goes to the cache. Returns 0, -EEXIST, -ENOMEM. May sleep if gfp permits. */
int cache_add(struct inode *inode, u32 index, struct page *page, gfp_t gfp);
/* Removes the page, which is neither mapped nor being written, and drops the cache's reference. */
void cache_remove(struct page *page);

/* Number of pages of files without a store, and their maximum. */
extern u32 cache_nr_kept, cache_max_kept;

static inline bool cache_may_grow(void)
{
	return cache_nr_kept < cache_max_kept;
}

/* Sets cache_max_kept. Called once, when the boot archive has been read. */
void cache_boot_done(void);
/* Drops the pages from number `from` on, dirty ones, too. May sleep. */
void cache_drop_from(struct inode *inode, u32 from);
/* truncate.c. cache_shrink for pages first to last. */
u32 cache_shrink_range(struct inode *inode, u32 first, u32 last);

/* For shmem.c. Make the page the inode's page `index`; undo that, when the tree no longer holds the page. */
void cache_describe(struct inode *inode, u32 index, struct page *page);
void cache_take_out(struct page *page);
/* Removes an item from the tree and tells the policy to forget it. */
void cache_forget_index(struct inode *inode, u32 index);

/* shmem.c: shared memory. */

static inline bool is_shmem(const struct inode *inode)
{
	return inode->cache.ops == &shmem_ops;
}

/* Returns a page with a reference in *page, read back from the swap area or created for a hole.
 * alone: no read-ahead. Returns 0, -ENOMEM, -ENOSPC, -EIO. May sleep. */
int shmem_get_page(struct inode *inode, u32 index, gfp_t gfp, bool alone, struct page **page,
		   bool *major);
/* Writes to one page, resident, swapped or a hole. Returns 0, -EFAULT, or as above. */
int shmem_write(struct inode *inode, u32 index, u32 off, const char *user, u32 n);
/* Starts reading the pages that are in the swap area. */
void shmem_will_need(struct inode *inode, u32 first, u32 nr);
/* Evicts a page to the swap area, which already has a copy. Never sleeps. */
void shmem_evict(struct page *page);
/* Deletes the page or slot at that number. */
void shmem_drop(struct inode *inode, u32 index, void *item);
/* Zeroes the rest of the last page of a file that now ends at size. May sleep. */
void shmem_clear_tail(struct inode *inode, u64 size);

/* copy.c: copy between a HIGHMEM page and user memory. Return 0 or -EFAULT. May sleep. */
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

/* Access a page from the kernel; never sleep. */
void page_read(struct page *page, u32 off, void *to, u32 n);
void page_write(struct page *page, u32 off, const void *from, u32 n);
void page_zero(struct page *page, u32 off, u32 n);

/* stored.c: one page. Return 0 or -errno. May sleep. left: bytes that the reader needs from off on. */
int stored_read(struct file *f, u32 index, u32 off, char *user, u32 n, u32 left);
int stored_write(struct inode *inode, u32 index, u32 off, const char *user, u32 n);
/* Call after a write. If it failed, removes what it left after the end of the file: bytes and blocks. */
void stored_end(struct inode *inode, int err);

/* io.c: transfers between pages and the device. */

static inline bool is_device(const struct inode *inode)
{
	return (inode->mode & S_IFMT) == S_IFBLK;
}

/* Returns the number by which policies know the file. */
u32 cache_new_store(const struct inode *inode);

/* Returns a frame for a page of a file with a store, or NULL. Those of files on disks may count against
 * the cap on frames. */
static inline struct page *cache_alloc(const struct inode *inode, gfp_t gfp)
{
	if (unlikely(frames_files) && inode->sb->bdev && !is_device(inode))
		return frames_alloc_file(gfp);
	return alloc_page(gfp);
}

/* What is to be read or written next: pieces with consecutive sectors. */
struct io_plan {
	struct inode *inode;
	bool write;
	u32 end; /* the sector after the last piece */
	u32 nr;
	struct {
		struct page *page;
		u32 offset, bytes;
	} piece[32];
	u32 first; /* reading: the block at which extent begins */
	struct extent extent;
};

/* Plans the parts of a page that lie on the device. The page must have been begun; it ends when all
 * parts are over. Returns 0, or the page's error; after -ENOMEM a page to be written is dirty again. */
int io_plan_page(struct io_plan *plan, struct page *page);
/* Sends the planned pieces. Sleeps until a bio is available. */
void io_send(struct io_plan *plan);

/* Begins reading a locked page that is in the cache. When the read ends the page is unlocked and
 * either up to date or PG_error. */
void io_begin_read(struct page *page);
/* Begins writing a page. Returns false if the page is not dirty, is locked or is already being
 * written. Never sleeps. */
bool io_begin_write(struct page *page);

/* dirty.c */

/* Like cache_set_dirty, but also callable from interrupts. Returns true if the page was clean before. */
bool cache_mark_dirty(struct page *page, u32 sectors);
/* Marks the page clean. Interrupts are off. */
void cache_clean(struct page *page);
/* Marks these sectors clean, and the page, too, if no other sector is dirty. */
void cache_clean_sectors(struct page *page, u32 sectors);
/* Writes up to max dirty pages from first to last. wait: also pages that are locked or being written,
 * after waiting for that; otherwise they stay dirty. Returns the number of writes begun. May sleep. */
u32 cache_write_range(struct inode *inode, u32 first, u32 last, u32 max, bool wait);

/* Like cache_sync, for pages first to last. */
int cache_sync_range(struct inode *inode, u32 first, u32 last);

/* Waits until no task is in cache_write_range. Call it after removing the pages, so that none enters. */
void cache_wait_writers(struct inode *inode);

/* direct.c: past the cache. The caller holds inode->lock. */

/* Writes [*at, *at + n) from user memory as far as possible, and advances *at. Returns 0 (a rest, if any,
 * must go through the cache), -EINVAL (not whole sectors), -EFAULT, -EIO, -ENOMEM, -ENOSPC. May sleep. */
int direct_write(struct inode *inode, const char *user, u32 n, u32 *at);
/* Call after that rest, [from, end), went through the cache: writes it back and drops it. 0 or -EIO. */
int direct_settle(struct inode *inode, u32 from, u32 end);

/* The end of the file; the part of a device after 4 GiB is not accessible. */
static inline u32 cache_end_of(const struct inode *inode)
{
	return likely(!(inode->size >> 32)) ? (u32)inode->size : CACHE_MAX_SIZE;
}

/* read.c */

/* Returns the page with a reference, up to date. want: number of pages needed from here on. *major:
 * it had to be read. Returns 0, -EINVAL beyond the end, -ENOMEM, -EIO. Sleeps. */
int cache_read_page(struct inode *inode, u32 index, u32 want, struct readahead *ahead,
		    struct page **page, bool *major);
/* Starts reading the pages that are not resident, as far as memory is free. */
void cache_prefetch(struct inode *inode, u32 first, u32 nr);
/* Allocates blocks for [off, off + n) of a locked page. Returns 0, -ENOSPC, -EIO. */
int cache_make_blocks(struct page *page, u32 off, u32 n);

/* ahead.c: what to read ahead. */

#define READAHEAD_MAX 32u /* pages of a window, without advice: 128 KiB */

extern u32 readahead_kb; /* vm.readahead_kb: the largest window, KiB; 0: each page is read alone */

/* Call when page `index` is not resident and `want` pages are needed. Returns the number to read,
 * from index on. */
u32 readahead_miss(struct readahead *ahead, u32 index, u32 want);
/* Call when page `index` is used. Returns true if the next window, ahead->start and size, shall be
 * read now. */
bool readahead_follow(struct readahead *ahead, u32 index);

/* around.c: the same for page faults. spare: enough frames are free for a window, without evictions. */

#define READAROUND_MAX 64u /* pages of a window */

/* Like readahead_miss, for one page; the window may begin before it, at *first. */
u32 readaround_miss(struct readahead *ahead, u32 index, bool spare, u32 *first);
/* Like readahead_follow. missed: readaround_miss was called for this fault. */
bool readaround_follow(struct readahead *ahead, u32 index, bool missed, bool spare);

/* uses.c */

/* writeback.c */

/* Call when a page has become dirty. */
void writeback_note(void);
/* Call after writing to a file: sleeps while too many pages are dirty. */
void writeback_throttle(struct page_cache *cache);
/* Called in irq context when a write of a page has ended. */
void writeback_progress(bool written);
/* Are too many pages dirty, and can this file not be written? Then further writes to it fail. */
bool writeback_hopeless(const struct page_cache *cache);
/* Call when a file was read from its device: in laptop_mode, dirty pages are then written soon. */
void writeback_disk_runs(void);
extern struct list_head dirty_caches; /* irq: of page_cache.dirty, the oldest first */

#endif
