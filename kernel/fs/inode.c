/*
 * Inodes.
 *
 * Dropping the last reference frees an inode; references are cached names, open files, regions of
 * an address space and working directories. So a file that is unlinked while it is open lives on
 * until it is closed. Unused inodes of a file system on a device stay cached (icache.c).
 *
 * inode->parent is the directory that holds the inode's name (for a file with several names, the
 * latest of them), or NULL after unlink. It needs no reference: a directory stays in memory while
 * its names do (dcache.c).
 *
 * Times are recorded as a count of cycles, which is cheap, and become dates when they are read.
 * Reading records an access as Linux's relatime does: only the first one after a change, or after a
 * day.
 *
 * Locks: inode->lock of a directory is held while its names change, parents before their children.
 * Only a rename holds two of them, one rename at a time in the whole system (dir.c). References
 * remain valid across sleeps. All tasks are root: modes and owners are stored and shown, but only
 * execution of files without any execute bit is denied.
 */
#include "internal.h"

#include "fs/fs_type.h"
#include "lib/assert.h"
#include "lib/string.h"
#include "mm/slab.h"

struct inode *vfs_root;
struct wait_queue poll_wait;

static struct kmem_cache *inode_cache;
static u32 last_ino, last_dev, nr_on_devices;

static const struct inode_operations no_ops;

void super_init(struct super_block *sb, const struct fs_type *type)
{
	sb->type = type;
	sb->dev = ++last_dev;
	sb->nth = type->on_device ? nr_on_devices++ : 0;
	INIT_LIST_HEAD(&sb->inodes);
	INIT_LIST_HEAD(&sb->dirty);
	INIT_LIST_HEAD(&sb->node);
	strlcpy(sb->source, type->name, sizeof(sb->source));
}

struct inode *inode_alloc(struct super_block *sb, u32 mode)
{
	struct inode *inode = kmem_cache_alloc(inode_cache, GFP_KERNEL | GFP_NORETRY);

	if (!inode)
		return NULL;
	memset(&inode->changed, 0, offsetof(struct inode, lock) - offsetof(struct inode, changed));
	inode->ino = ++last_ino;
	inode->mode = mode;
	inode->count = 1;
	inode->state = INODE_READ_DUE;
	inode->modified = inode->accessed = clock_stamp();
	inode->sb = sb;
	inode->ops = &no_ops;
	mutex_init(&inode->lock);
	INIT_LIST_HEAD(&inode->entries);
	cache_init(&inode->cache);
	list_add_tail(&inode->on_sb, &sb->inodes);
	return inode;
}

void inode_release(struct inode *inode)
{
	list_del(&inode->on_sb);
	kmem_cache_free(inode_cache, inode);
}

void inode_free(struct inode *inode)
{
	if (inode->state & INODE_STORED) {
		inode_unused(inode);
		return;
	}
	ASSERT(list_empty(&inode->entries));
	if (inode->evict)
		inode->evict(inode);
	inode_release(inode);
}

void inode_accessed(struct inode *inode)
{
	inode->state &= ~(u32)INODE_READ_DUE;
	if (super_may_change(inode->sb))
		return;
	inode->accessed = clock_stamp();
	if (inode->state & INODE_STORED)
		inode_mark_dirty(inode);
}

void vfs_init(void)
{
	wait_queue_init(&poll_wait);
	inode_cache = kmem_cache_create("inode", sizeof(struct inode), 0, NULL);
	file_init();
	dcache_init();
	mount_init();
	dev_init();
}
