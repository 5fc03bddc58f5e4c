/*
 * Super blocks: a file system in use, its inodes, and how it is written out and released.
 *
 * An in-memory file system consists of its names: it is unused if every inode has only the
 * references of its names. For one on a device, all names and unused inodes are first evicted; it
 * is unused if only its root is left. Nothing sleeps between this check and the moment when no path
 * leads to it any more.
 *
 * Dirty data that cannot be written stay in memory while the file system is mounted, and are
 * retried again and again. They do not prevent an unmount, or a broken disk would stay mounted for
 * ever: after WRITE_TRIES they are given up, and a line on the console reports how much was lost.
 */
#include "internal.h"

#include "drivers/block.h"
#include "fs/fs_type.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "mm/slab.h"

#define WRITE_TRIES 8u

int super_sync(struct super_block *sb)
{
	int err, err2;

	if (!sb->type->on_device || sb->read_only)
		return 0;
	err = icache_sync(sb);
	err2 = sb->ops->sync ? sb->ops->sync(sb) : 0;
	err = err ? err : err2;
	err2 = sb->bdev ? sb->ops->flush(sb) : 0;
	return err ? err : err2;
}

bool super_has_writers(const struct super_block *sb)
{
	const struct inode *inode;

	if (sb->nr_writers)
		return true;
	if (sb->type->on_device)
		list_for_each_entry(inode, &sb->inodes, on_sb)
			if (!inode->nlink)
				return true;
	return false;
}

/* References to the root that are not a use: those of the super block and the caller. */
#define ROOT_HELD 2u

static bool memory_in_use(const struct super_block *sb)
{
	const struct inode *inode;

	list_for_each_entry(inode, &sb->inodes, on_sb)
		if (inode->count > inode->nr_names + (inode == sb->root ? ROOT_HELD : 0))
			return true;
	return false;
}

static bool device_in_use(const struct super_block *sb)
{
	const struct inode *inode;

	list_for_each_entry(inode, &sb->inodes, on_sb)
		if (inode->count > (inode == sb->root ? ROOT_HELD : 0))
			return true;
	return false;
}

bool super_in_use(struct super_block *sb)
{
	if (!sb->type->on_device)
		return memory_in_use(sb);
	for (u32 tries = 0;; tries++) { /* writing sleeps: check again */
		dcache_drop(sb);
		icache_drop_unused(sb);
		if (device_in_use(sb))
			return true;
		if (list_is_last(sb->inodes.next, &sb->inodes) && list_empty(&sb->dirty))
			return false;
		if (tries < WRITE_TRIES)
			super_sync(sb);
		else
			sb->bdev->nr_lost += icache_lose(sb);
	}
}

/* First takes a reference to each inode, so that none is freed while its directory is
 * dismantled. */
static void free_tree(struct super_block *sb)
{
	struct inode *inode, *next;

	list_for_each_entry(inode, &sb->inodes, on_sb)
		inode_get(inode);
	list_for_each_entry(inode, &sb->inodes, on_sb)
		dentry_drop_all(inode);
	list_for_each_entry_safe(inode, next, &sb->inodes, on_sb)
		if (inode != sb->root)
			inode_put(inode);
	sb->root->count--;
}

static int flush_device(struct block_device *bdev)
{
	int err = buf_sync_all(bdev), err2 = block_flush(bdev);

	return err ? err : err2;
}

/* The file system's own data are already gone. */
void super_release_device(struct super_block *sb)
{
	struct block_device *bdev = sb->bdev;
	u32 tries = 0;
	int err;

	while ((err = flush_device(bdev)) && ++tries < WRITE_TRIES)
		;
	if (err) { /* else the dirty data belong to a program that writes to the device */
		bdev->nr_lost += bdev->inode->cache.nr_dirty;
		cache_drop(bdev->inode);
	}
	if (bdev->nr_lost)
		printk("%s: %s: %u pages and inodes could not be written and are lost\n",
		       sb->type->name, bdev->name, bdev->nr_lost);
	cache_forget_evicted(bdev->inode);
	bdev_release(bdev);
}

void super_free(struct super_block *sb)
{
	struct inode *root = sb->root;

	ASSERT(!sb->mounted_on);
	if (sb == sb->type->single)
		return;
	if (sb->type->on_device) {
		super_sync(sb);
		root->count--; /* it must not stay cached */
		ASSERT(!root->count);
		inode_evict(root);
	} else {
		free_tree(sb);
		inode_put(root);
	}
	ASSERT(list_empty(&sb->inodes));
	if (sb->ops->put_super)
		sb->ops->put_super(sb);
	if (sb->bdev)
		super_release_device(sb);
	kfree(sb);
}

int vfs_syncfs(struct inode *inode)
{
	return super_sync(inode->sb);
}

int vfs_statfs(struct inode *inode, struct kstatfs *st)
{
	return inode->sb->ops->statfs(inode->sb, st);
}
