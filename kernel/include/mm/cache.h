/*
 * The page cache: the pages of a file that are in memory. mm/cache/cache.c has the theory.
 *
 * A file has a store behind it (a file system on a device, or the device itself: cache_ops says where
 * its blocks lie), or none (ramfs), and then its cache is all there is of it. Shared memory is in
 * between: its pages leave for the swap area (mm/cache/shmem.c).
 */
#ifndef MM_CACHE_H
#define MM_CACHE_H

#include "lib/list.h"
#include "lib/radix.h"
#include "types.h"

struct block_device;
struct file;
struct inode;
struct page;
struct seq_file;
struct super_block;

/* Files end here at the latest: positions fit into 32 bits. */
#define CACHE_MAX_SIZE 0xFFFFF000u

/* Where blocks of a file lie on its device. */
struct extent {
	u32 sector; /* 0: a hole */
	u32 blocks; /* that follow one another from there, >= 1 */
	bool fresh; /* just made: what the caller does not write must be zeroed */
};

struct cache_ops {
	/*
	 * Where block `block` (of 1 << inode->block_bits bytes) of the file lies, and how many
	 * after it follow it on the device, at most max. create: makes those that are missing; the
	 * page is locked. May sleep. 0, -ENOSPC, -EIO. Without create it is called by reclaim,
	 * too, with create by page faults: it may take neither inode->lock nor mm->lock.
	 */
	int (*map)(struct inode *inode, u32 block, u32 max, bool create, struct extent *extent);
};

struct page_cache { /* in struct inode */
	struct radix pages; /* pages by number; and shadows of those that were evicted */
	u32 nr_pages, nr_dirty;
	u32 nr_writeback; /* irq */
	u32 nr_swapped; /* shared memory: pages in the swap area */
	u32 store; /* page_id.store of its pages, given with the first one; 0: none yet */
	const struct cache_ops *ops; /* NULL: nothing is behind it, no policy sees its pages */
	struct block_device *bdev;   /* where extents lie */
	struct list_head regions;    /* of vm_area_struct.mapping: who maps it */
	struct list_head dirty;      /* with nr_dirty: in the list of those to be written; shared
					memory: with nr_swapped, in that of those in swap */
	u64 dirtied_ns; /* machine time at which the first of its dirty pages became so */
	u32 reach; /* a write is under way that makes the file so long; 0: none */
	u32 nr_writers; /* who go over its dirty pages now */
	u32 errors;  /* irq: writes of a page that failed, so far */
	u32 errors_told; /* as many when fsync last said so to somebody */
	bool failing;    /* irq: the last one did */
	bool holes_mapped; /* without a store: entries may show the frame of zeros for a hole */
};

/* How a file is read: what is read ahead of it. In struct file and vm_area_struct; all zero: nothing
 * is known yet. */
struct readahead {
	u32 next; /* the page after the one that was used last */
	u32 start, size; /* the last window: pages that were read before somebody asked */
	u8 advice; /* enum readahead_advice */
};

enum readahead_advice { READ_NORMAL, READ_RANDOM, READ_SEQUENTIAL };

/* A new inode's cache, all else zero. */
static inline void cache_init(struct page_cache *cache)
{
	INIT_LIST_HEAD(&cache->regions);
	INIT_LIST_HEAD(&cache->dirty);
}

/* A regular file's operations. Bytes, or -EFAULT, -EIO, -ENOMEM, -ENOSPC, -EFBIG. May sleep. */
long cache_file_read(struct file *f, void *user, size_t n, u64 *pos);
long cache_file_write(struct file *f, const void *user, size_t n, u64 *pos);
/* The same past the cache, into memory, from a place, of a length in whole sectors (-EINVAL): O_DIRECT,
 * with which cache_file_write goes past it, too. */
long cache_direct_read(struct file *f, void *user, size_t n, u64 *pos);
/* The same into kernel memory. */
long cache_read_kernel(struct inode *inode, u64 pos, void *to, size_t n);
/* Pages that files without a store may have, and how many of them are left. */
void cache_room(u64 *pages, u64 *left);
/* What the boot archive brings: 0, -EFBIG, -ENOSPC. */
int cache_append_kernel(struct inode *inode, const void *from, size_t n);

/* A page with a reference, read if it must be: 0, -EINVAL beyond the end, -ENOMEM, -EIO. May sleep. */
int cache_get_page(struct inode *inode, u32 index, struct page **page);

/* The file has become shorter, inode->size says so already: pages beyond go, unmapped everywhere;
 * the rest of the last one is zeroed. Before the file system frees the blocks. May sleep. */
void cache_truncate(struct inode *inode, u64 size);
/* Zeros behind the end of the file, which is about to grow: a mapping may have written there. */
void cache_clear_tail(struct inode *inode);
/* All pages, clean or not: the inode goes for good. Sleeps only if it has pages. */
void cache_drop(struct inode *inode);
/* The shadows of pages that were evicted, but no page. Never sleeps. */
void cache_forget_evicted(struct inode *inode);
/* Drops what is clean, not mapped and not in use: pages dropped. Never sleeps. */
u32 cache_shrink(struct inode *inode);
/* Writes what is dirty and waits for it: 0, or -EIO if a write failed meanwhile, whose page stays
 * dirty. May sleep. */
int cache_sync(struct inode *inode);
/* The same for fsync: -EIO also if one failed since this open file was told, or was opened; or before
 * it was opened, and nobody has been told. */
int cache_sync_file(struct file *f);
/* posix_fadvise: a range of bytes, n 0: to the end. 0 or -EINVAL. May sleep. */
int cache_advise(struct file *f, u64 from, u64 n, int advice);
/* The same of pages: starts reading them; drops those that can go at once. */
void cache_will_need(struct inode *inode, u32 first, u32 nr);

/* Blocks of metadata of a file system: pieces of the pages of its device's own file. data is valid
 * until buf_put. Of such a page only the sectors of blocks marked dirty are ever written. */
struct buf {
	struct page *page;
	char *data;
	struct block_device *bdev;
	u32 block, size;
};

int buf_read(struct super_block *sb, u32 block, struct buf *b); /* 0, -EIO, -ENOMEM; may sleep */
int buf_new(struct super_block *sb, u32 block, struct buf *b); /* the same; zeroed, and dirty */
void buf_dirty(struct buf *b);
void buf_put(struct buf *b);
/* The block was freed: it is not written any more. Waits for a write that is under way. */
void buf_forget(struct super_block *sb, u32 block);
/* Writes all dirty metadata of a device and waits: 0 or -EIO. May sleep. */
int buf_sync_all(struct block_device *bdev);

/* A device's own file: the inode of /dev/NAME becomes it. */
void cache_init_device(struct inode *inode, struct block_device *bdev);

/* The operations of a file that is shared memory. */
extern const struct cache_ops shmem_ops;

/* Pages of files that have a store, of shared memory among them, dirty, being written; of all files. */
extern u32 cache_nr_stored, cache_nr_shmem, cache_nr_dirty, cache_nr_writeback;
u32 cache_nr_cached(void);
void writeback_start(void); /* its thread: before anything gets dirty, or with it */

/*
 * For mm/space and reclaim.
 */
struct mm_struct;

/* The page for a fault, as cache_get_page; but -ENOENT: a hole of a file without a store. *major: it had
 * to be read. */
int cache_fault_page(struct inode *inode, u32 index, struct readahead *ahead, struct page **page,
		     bool *major);
/* read, write or the kernel found the page, or brought it in. This and the next three for pages of
 * files with a store. */
void cache_note_io(struct page *page);
/* mm has just mapped it. */
void cache_note_fault(struct page *page, struct mm_struct *mm);
/* May mm map this entry of the tree because its neighbour was asked for? Then it is mm's. */
bool cache_note_neighbour(struct page *page, struct mm_struct *mm);
/* mm maps it no more; used: since somebody asked last. The page may have others, or none. */
void cache_note_unmap(struct page *page, struct mm_struct *mm, bool used);
/* A shared mapping may write to it from now on: finds it its place and makes it dirty. 0, -ENOSPC,
 * -EIO; -EAGAIN: it has left the file. May sleep. */
int cache_make_writable(struct inode *inode, struct page *page);
/* Unmaps it everywhere. */
void cache_unmap(struct page *page);
/* filemap.c: empties entries that no page leads to. These two never sleep, and so need no mm->lock.
 * Those of private regions from page first of the file on, copies too; and of its holes. */
void filemap_unmap_rest(struct inode *inode, u32 first);
/* A page comes where a hole was, which may have been read. */
void filemap_unmap_hole(struct inode *inode, u32 index);
/* sectors: a bit for each that differs from the device. The first time of all it may sleep. */
void cache_set_dirty(struct page *page, u32 sectors);
/* Does somebody use it, or is it not clean? */
bool cache_page_in_use(const struct page *page);
/* Writes it, and dirty neighbours; when it is over reclaim_write_done is called, once. May sleep. */
void cache_write_for_reclaim(struct page *page);
/* It leaves memory, clean and used by nobody; its shadow stays, or its slot. */
void cache_evict(struct page *page);
/* No entry may write to it any more without a fault. */
void cache_protect(struct page *page);
/* What is in the swap cache for slots first..end - 1 becomes its files' again, and gives the slots up. */
void shmem_unuse(u32 first, u32 end);
/* Pages of shared memory in the swap area; *sound becomes false when that contradicts its files. */
u32 shmem_nr_swapped(bool *sound);

#endif
