/*
 * The page cache: the resident pages of files. mm/cache/cache.c has the theory.
 *
 * A file may have a store behind it: a file system on a device, or the device itself. Then
 * cache_ops tells where its blocks lie. A file without a store (ramfs) exists only in its cache.
 * Shared memory is in between: its pages are evicted to the swap area (mm/cache/shmem.c).
 */
#ifndef MM_CACHE_H
#define MM_CACHE_H

#include "lib/interval.h"
#include "lib/list.h"
#include "lib/radix.h"
#include "types.h"

struct block_device;
struct file;
struct inode;
struct page;
struct seq_file;
struct super_block;

/* The maximum size of a file: positions fit into 32 bits. */
#define CACHE_MAX_SIZE 0xFFFFF000u

/* Where blocks of a file lie on its device. */
struct extent {
	u32 sector; /* 0: a hole */
	u32 blocks; /* number of consecutive blocks from there, >= 1 */
	bool fresh; /* just allocated: what the caller does not write must be zeroed */
};

struct cache_ops {
	/*
	 * Finds block `block` (of 1 << inode->block_bits bytes) of the file on the device, and the
	 * number of blocks, at most max, that are contiguous with it there. create: allocates missing
	 * blocks; the page is locked. May sleep. Returns 0, -ENOSPC, -EIO. Reclaim calls it without
	 * create, page faults also with create: it must take neither inode->lock nor mm->lock.
	 */
	int (*map)(struct inode *inode, u32 block, u32 max, bool create, struct extent *extent);
};

struct page_cache { /* in struct inode */
	struct radix pages; /* pages by number, and shadows of evicted pages */
	u32 nr_pages, nr_dirty;
	u32 nr_writeback; /* irq */
	u32 nr_swapped; /* shared memory: number of pages in the swap area */
	u32 store; /* page_id.store of its pages, set with the first page; 0: not yet */
	const struct cache_ops *ops; /* NULL: no store, and no policy sees its pages */
	struct block_device *bdev;   /* the device on which extents lie */
	struct rb_root regions;      /* of vm_area_struct.mapping: the regions that map it */
	struct list_head dirty;      /* if nr_dirty: in the list of dirty files; shared memory, if
					nr_swapped: in the list of files with pages in swap */
	u64 dirtied_ns; /* machine time at which its first dirty page became dirty */
	u32 reach; /* end of the write in progress beyond the file's size; 0: none */
	u32 nr_writers; /* tasks that are writing its dirty pages now */
	u32 errors;  /* irq: number of page writes that failed so far */
	u32 errors_told; /* value of `errors` when fsync last reported an error */
	bool failing;    /* irq: the last write of a page failed */
	bool held; /* device: its dirty pages are written by cache_commit only */
	bool holes_mapped; /* in memory only: entries may map the frame of zeros for a hole */
};

/* The read-ahead state of one reader. In struct file and vm_area_struct; all zero: nothing is
 * known yet. */
struct readahead {
	u32 next; /* the page after the one used last */
	u32 start, size; /* the last window: pages read before they were requested */
	u8 advice; /* enum readahead_advice */
	bool mapped; /* a region: its page faults also read around (mm/cache/around.c) */
	u16 misses; /* mapped: faults on pages that were not resident, less those on pages that were */
};

enum readahead_advice { READ_NORMAL, READ_RANDOM, READ_SEQUENTIAL };

/* Writes the dirty pages of a device whose cache is held, in the way of the file system on it. Set by its log. */
extern void (*cache_commit)(struct inode *device);

/* Initializes the cache of a new inode, which is all zero otherwise. */
static inline void cache_init(struct page_cache *cache)
{
	INIT_LIST_HEAD(&cache->dirty);
}

/* A regular file's operations. Return bytes, or -EFAULT, -EIO, -ENOMEM, -ENOSPC, -EFBIG. May sleep. */
long cache_file_read(struct file *f, void *user, size_t n, u64 *pos);
long cache_file_write(struct file *f, const void *user, size_t n, u64 *pos);
/* O_DIRECT: reads past the cache. Memory address, position and length must be whole sectors, else
 * -EINVAL. With O_DIRECT, cache_file_write also writes past the cache. */
long cache_direct_read(struct file *f, void *user, size_t n, u64 *pos);
/* Reads through the cache into kernel memory. */
long cache_read_kernel(struct inode *inode, u64 pos, void *to, size_t n);
/* *pages: the maximum number of pages of files without a store; *left: how many of them are free. */
void cache_room(u64 *pages, u64 *left);
/* Appends data of the boot archive to a file. Returns 0, -EFBIG, -ENOSPC. */
int cache_append_kernel(struct inode *inode, const void *from, size_t n);

/* Stores a page with a reference, read if necessary. Returns 0, -EINVAL beyond the end, -ENOMEM, -EIO. May
 * sleep. */
int cache_get_page(struct inode *inode, u32 index, struct page **page);

/* Call when the file has become shorter (inode->size is already set), before the file system frees
 * blocks. Unmaps and frees the pages beyond the end, and zeroes the rest of the last page. May sleep. */
void cache_truncate(struct inode *inode, u64 size);
/* Zeroes the rest of the last page of a file that is about to grow: a mapping may have written
 * there. */
void cache_clear_tail(struct inode *inode);
/* Frees all pages, clean or not, because the inode is deleted. Sleeps only if it has pages. */
void cache_drop(struct inode *inode);
/* Frees the shadows of evicted pages, but no pages. Never sleeps. */
void cache_forget_evicted(struct inode *inode);
/* Frees pages that are clean, not mapped and not in use. Returns their number. Never sleeps. */
u32 cache_shrink(struct inode *inode);
/* Writes all dirty pages and waits for the writes. Returns 0, or -EIO if a write failed meanwhile;
 * that page stays dirty. May sleep. */
int cache_sync(struct inode *inode);
/* Like cache_sync, for fsync. Also returns -EIO if a write has failed since this open file last
 * reported an error or was opened, or before it was opened if no fsync has reported that error. */
int cache_sync_file(struct file *f);
/* posix_fadvise for a range of bytes; n 0: up to the end. Returns 0 or -EINVAL. May sleep. */
int cache_advise(struct file *f, u64 from, u64 n, int advice);
/* Makes room for pages first..last inside the file, in memory or on the device. Returns 0, -ENOSPC, -EIO,
 * -ENOMEM, -EINTR. May sleep. */
int cache_reserve(struct inode *inode, u32 first, u32 last);
/* Is this page of the file in memory? Never sleeps. */
bool cache_is_resident(const struct inode *inode, u32 index);
/* Starts reading nr pages, from page number `first` on. */
void cache_will_need(struct inode *inode, u32 first, u32 nr);

/* Metadata blocks of a file system: parts of the pages of its device's own file. data is valid until
 * buf_put. Only the sectors of blocks that were marked dirty are ever written to the device. */
struct buf {
	struct page *page;
	char *data;
	struct block_device *bdev;
	u32 block, size;
};

int buf_read(struct super_block *sb, u32 block, struct buf *b); /* 0, -EIO, -ENOMEM; may sleep */
int buf_new(struct super_block *sb, u32 block, struct buf *b); /* like buf_read; zeroed and dirty */
void buf_dirty(struct buf *b);
void buf_put(struct buf *b);
/* Call when a block has been freed: it will not be written any more. Waits for a write in progress. */
void buf_forget(struct super_block *sb, u32 block);
/* Writes all dirty metadata of a device and waits. Returns 0 or -EIO. May sleep. */
int buf_sync_all(struct block_device *bdev);

/* For a log (fs/ext2/log.c). */
/* Stores the first dirty block from `from` on, with a reference. Returns false if there is none. */
bool buf_next_dirty(struct super_block *sb, u32 from, struct buf *b);
/* Holds all dirty metadata in memory, or no longer: then buf_sync_all writes them. */
void buf_hold(struct block_device *bdev, bool hold);
/* Marks all metadata clean without writing them. Returns the number of dirty pages. */
u32 buf_lose_all(struct block_device *bdev);
/* Moves nr blocks, from `block` on, past the cache. memory: from kmalloc, in parts of a page each; the first
 * block is block number `first` of it. Returns 0 or -EIO. Sleeps. */
int buf_move(struct super_block *sb, u32 block, u32 nr, char *const *memory, u32 first, bool write);

/* Makes the inode of /dev/NAME the device's own file. */
void cache_init_device(struct inode *inode, struct block_device *bdev);

/* The operations of a file that represents shared memory. */
extern const struct cache_ops shmem_ops;

/* Pages of files with a store, of shared memory (included in these), dirty, being written; of all files. */
extern u32 cache_nr_stored, cache_nr_shmem, cache_nr_dirty, cache_nr_writeback;
u32 cache_nr_cached(void);
void writeback_start(void); /* starts the thread, when a page becomes dirty or before */
extern u32 writeback_nr_threads; /* 0 until then, then 1 */

/*
 * For mm/space and reclaim.
 */
struct mm_struct;

/* Like cache_get_page, for a page fault, but returns -ENOENT for a hole of a file in memory.
 * *major: the page had to be read. */
int cache_fault_page(struct inode *inode, u32 index, struct readahead *ahead, struct page **page,
		     bool *major);
/* Call when read, write or the kernel has found the page in the cache, or loaded it. This and the
 * next three functions are for pages of files with a store. */
void cache_note_io(struct page *page);
/* Call when mm has just mapped the page. */
void cache_note_fault(struct page *page, struct mm_struct *mm);
/* May fault-around map this item of the tree for mm? If so, mm becomes the owner of an unowned page. */
bool cache_note_neighbour(struct page *page, struct mm_struct *mm);
/* Call when mm has unmapped the page; used: the entry's accessed bit was set. Other mappings may
 * remain. */
void cache_note_unmap(struct page *page, struct mm_struct *mm, bool used);
/* Call before a shared mapping may write to the page: allocates its blocks, marks it dirty, and
 * sets the file's times. Returns 0, -ENOSPC, -EIO, or -EAGAIN if the page no longer belongs to the
 * file. May sleep. */
int cache_make_writable(struct inode *inode, struct page *page);
/* Removes all mappings of the page. */
void cache_unmap(struct page *page);
/* sectors: one bit for each sector that differs from the device. The very first call may sleep. */
void cache_set_dirty(struct page *page, u32 sectors);
/* Writes the page and dirty neighbours. Calls reclaim_write_done once, when the write is over. May sleep. */
void cache_write_for_reclaim(struct page *page);
/* Evicts a page, clean and not in use; leaves its shadow in the tree, or, of shared memory, its slot. */
void cache_evict(struct page *page);
/* Makes all entries of the page read-only, so that the next write faults. */
void cache_protect(struct page *page);
/* Moves pages in the swap cache for slots first..end - 1 back to their files, and frees the slots. */
void shmem_unuse(u32 first, u32 end);
/* Returns the number of pages of shared memory in the swap area; *sound becomes false if that
 * contradicts the files. */
u32 shmem_nr_swapped(bool *sound);

#endif
