/*
 * Opening: from a path and flags to an open file. With O_PATH the open file only names a place
 * (also a symbolic link) that other calls start from or query: no operation of the file is ever
 * called.
 */
#include "internal.h"

#include "drivers/block.h"
#include "fs/lock.h"
#include "mm/slab.h"

static struct kmem_cache *file_cache;

void file_init(void)
{
	file_cache = kmem_cache_create("file", sizeof(struct file), 0, NULL);
}

static const struct file_operations no_fops;

/* Does this open file keep its file system from becoming read-only? */
static bool writes(const struct inode *inode, u32 flags)
{
	return (flags & (O_ACCMODE | O_PATH)) - 1 < 2 && inode_is_reg(inode);
}

static int may_write(const struct inode *inode)
{
	return inode_runs(inode) ? -ETXTBSY : super_may_change(inode->sb);
}

int file_create(struct inode *inode, u32 flags, struct file **file)
{
	struct file *f = kmem_cache_alloc(file_cache, GFP_KERNEL | GFP_NORETRY);
	int err = 0;

	if (!f)
		return -ENOMEM;
	*f = (struct file){ .inode = inode,
			    .fops = inode->fops,
			    .count = 1,
			    .flags = flags,
			    .errors_told = inode->cache.errors_told };
	if (flags & O_PATH)
		f->fops = &no_fops;
	if (writes(inode, flags)) /* checked last: the allocation may have slept */
		err = may_write(inode);
	if (!err && f->fops->open)
		err = f->fops->open(f);
	if (err) {
		kmem_cache_free(file_cache, f);
		return err;
	}
	inode_get(inode);
	if (writes(inode, flags))
		inode_count_writers(inode, 1);
	*file = f;
	return 0;
}

void file_free(struct file *f)
{
	if (f->fops->release)
		f->fops->release(f);
	if (unlikely(f->inode->locks))
		locks_release(f->inode, f);
	if (writes(f->inode, f->flags))
		inode_count_writers(f->inode, -1);
	inode_put(f->inode);
	kmem_cache_free(file_cache, f);
}

bool file_may_be_direct(const struct inode *inode)
{
	if (inode_is_reg(inode))
		return inode->state & INODE_STORED;
	return (inode->mode & S_IFMT) == S_IFBLK;
}

/* May this inode be opened with these flags? */
static int check_open(const struct inode *inode, u32 flags)
{
	if (flags & O_PATH)
		return flags & O_DIRECTORY && !inode_is_dir(inode) ? -ENOTDIR : 0;
	if (inode_is_link(inode))
		return -ELOOP;
	if (inode_is_dir(inode) && ((flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT))
		return -EISDIR;
	if (!inode_is_dir(inode) && flags & O_DIRECTORY)
		return -ENOTDIR;
	if (flags & O_DIRECT && !file_may_be_direct(inode))
		return -EINVAL;
	if (flags & (O_ACCMODE | O_TRUNC) && inode_is_reg(inode) && super_may_change(inode->sb))
		return -EROFS;
	return inode->fops ? 0 : -ENXIO;
}

static int create_file(struct walk *w, u32 mode, struct inode **inode)
{
	if (w->slash)
		return -EISDIR;
	return walk_create(w, S_IFREG | (mode & 07777), 0, NULL, inode);
}

/* Returns -EAGAIN if another task has created it meanwhile. */
static int create_missing(struct walk *w, u32 mode, bool exclusive, struct inode **inode)
{
	int err;

	if (path_is_dotdot(&w->last)) /* in a removed directory */
		return -ENOENT;
	err = create_file(w, mode, inode);
	return err == -EEXIST && !exclusive ? -EAGAIN : err;
}

/* Finds the inode to open, or creates it. */
static int find_or_create(const char *path, u32 flags, u32 mode, struct inode **inode)
{
	bool exclusive = flags & O_CREAT && flags & O_EXCL;
	struct walk w;
	int err = walk_parent(path, &w);

	if (err)
		return err;
	err = walk_last(&w, !(flags & O_NOFOLLOW) && !exclusive, inode);
	if (!err && exclusive) {
		inode_put(*inode);
		err = -EEXIST;
	} else if (err == -ENOENT && flags & O_CREAT) {
		err = create_missing(&w, mode, exclusive, inode);
	}
	walk_end(&w);
	return err;
}

/* Replaces any node of a block device by the one in /dev, whose pages are the device's. */
static void enter_device(struct inode **node)
{
	struct block_device *bdev = bdev_by_dev((*node)->rdev);
	struct inode *old = *node;

	if (!bdev || !bdev->inode || bdev->inode == old)
		return;
	inode_get(bdev->inode);
	*node = bdev->inode;
	inode_put(old);
}

int vfs_open(const char *path, u32 flags, u32 mode, struct file **file)
{
	struct inode *inode;
	int err;

	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	do
		err = find_or_create(path, flags, mode, &inode);
	while (err == -EAGAIN);
	if (err)
		return err;
	if (!(flags & O_PATH) && (inode->mode & S_IFMT) == S_IFBLK)
		enter_device(&inode);
	err = check_open(inode, flags);
	if (!err && flags & O_TRUNC && inode_is_reg(inode) && inode->size)
		err = vfs_truncate(inode, 0);
	if (!err)
		err = file_create(inode, flags, file);
	inode_put(inode);
	return err;
}
