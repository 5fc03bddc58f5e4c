/* In place of the block layer's and the page cache's functions until they are there. */
#include "internal.h"

#include "drivers/block.h"

struct block_device *bdev_find(const char *name)
{
	(void)name;
	return NULL;
}

struct block_device *bdev_by_dev(u32 dev)
{
	(void)dev;
	return NULL;
}

int bdev_claim(struct block_device *b, const char *holder)
{
	(void)b, (void)holder;
	return 0;
}

void bdev_release(struct block_device *b)
{
	(void)b;
}

int block_flush(struct block_device *bdev)
{
	(void)bdev;
	return 0;
}

void cache_drop(struct inode *inode)
{
	inode->cache = (struct page_cache){ 0 };
}

u32 cache_shrink(struct inode *inode)
{
	(void)inode;
	return 0;
}

int cache_sync(struct inode *inode)
{
	(void)inode;
	return 0;
}

void cache_truncate(struct inode *inode, u64 size)
{
	(void)inode, (void)size;
}

int buf_sync_all(struct block_device *bdev)
{
	(void)bdev;
	return 0;
}
