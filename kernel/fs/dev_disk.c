/* The nodes of block devices in /dev: their operations, and their names once the disks are known. */
#include "internal.h"

#include "drivers/block.h"
#include "lib/assert.h"
#include "lib/stages.h"

static int disk_open(struct file *f)
{
	return f->inode->cache.ops ? 0 : -ENXIO;
}

static int disk_sync(struct file *f)
{
	int err = cache_sync_file(f), err2 = block_flush(f->inode->cache.bdev);

	return err ? err : err2;
}

static const struct file_operations disk_fops = {
	.open = disk_open, .read = cache_file_read, .write = cache_file_write, .sync = disk_sync
};

static void register_disks(void)
{
	special_register(S_IFBLK, &disk_fops);
}

AT_STAGE(first, 30, register_disks);

/* Adds the nodes of all block devices, now that they are known. */
static void dev_add_disks(void)
{
	struct block_device *bdev = NULL;

	while ((bdev = bdev_next(bdev))) {
		struct inode *inode = ramfs_inode(&dev_sb, S_IFBLK | 0660, bdev->dev);

		if (!inode)
			panic("dev: no memory");
		cache_init_device(inode, bdev); /* its reference stays */
		dev_register(bdev->name, inode);
		if (!bdev->holder)
			writeback_start();
	}
}

AT_STAGE(disks, 20, dev_add_disks);
