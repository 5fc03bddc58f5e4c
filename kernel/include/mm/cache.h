/* Pages of files on devices: what the files of fs/ need of their cache. */
#ifndef MM_CACHE_H
#define MM_CACHE_H

#include "types.h"

struct block_device;
struct inode;

struct page_cache {
	u32 nr_pages, nr_dirty, nr_writeback;
};

void cache_drop(struct inode *inode);
u32 cache_shrink(struct inode *inode);
int cache_sync(struct inode *inode);
void cache_truncate(struct inode *inode, u64 size);
int buf_sync_all(struct block_device *bdev);

#endif
