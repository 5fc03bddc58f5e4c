/* Stands in for the kernel's header until that has a page cache. */
#ifndef MM_CACHE_H
#define MM_CACHE_H

#include "types.h"

struct file;
struct inode;
struct page;
struct super_block;
struct block_device;

struct extent {
	u32 sector, blocks;
	bool fresh;
};

struct cache_ops {
	int (*map)(struct inode *inode, u32 block, u32 max, bool create, struct extent *extent);
};

struct page_cache {
	const struct cache_ops *ops;
	struct block_device *bdev;
};

struct buf {
	struct page *page;
	char *data;
	struct block_device *bdev;
	u32 block, size;
};

#define CACHE_MAX_SIZE 0xFFFFF000u

long cache_file_read(struct file *f, void *user, size_t n, u64 *pos);
long cache_file_write(struct file *f, const void *user, size_t n, u64 *pos);

int buf_read(struct super_block *sb, u32 block, struct buf *b);
int buf_new(struct super_block *sb, u32 block, struct buf *b);
void buf_dirty(struct buf *b);
void buf_put(struct buf *b);
void buf_forget(struct super_block *sb, u32 block);
int buf_sync_all(struct block_device *bdev);

#endif
