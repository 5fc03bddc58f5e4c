/*
 * Files that live in memory: a regular file is its page cache and nothing else (mm/cache/cache.c). There
 * is no store behind it, so its pages are never reclaimed (as in Linux's ramfs). Programs run from
 * here, so their text and clean data do not compete with anonymous memory, which is what most
 * policies are about.
 *
 * Left out: a write by two tasks at once is atomic page by page only.
 */
#include "internal.h"

#include "lib/string.h"
#include "mm/cache.h"
#include "mm/slab.h"

static const struct file_operations ramfs_fops;

long vfs_read_kernel(struct inode *inode, u64 pos, void *to, size_t n)
{
	if (!inode_is_reg(inode) || inode->fops != &ramfs_fops)
		return -EINVAL;
	return cache_read_kernel(inode, pos, to, n);
}

int vfs_get_page(struct inode *inode, u32 index, struct page **page)
{
	return inode->fops == &ramfs_fops ? cache_get_page(inode, index, page) : -EINVAL;
}

int ramfs_append(struct inode *inode, const void *from, size_t n)
{
	return cache_append_kernel(inode, from, n);
}

int vfs_truncate(struct inode *inode, u64 size)
{
	bool shorter = size < inode->size;

	if (inode_is_dir(inode))
		return -EISDIR;
	if (inode->fops != &ramfs_fops)
		return -EINVAL;
	if (size > CACHE_MAX_SIZE)
		return -EFBIG;
	inode->size = size;
	if (shorter)
		cache_truncate(inode, size);
	inode_touch(inode);
	return 0;
}

/* Inodes. */

static void symlink_evict(struct inode *inode)
{
	kfree(inode->private);
}

static const struct file_operations ramfs_fops = {
	.read = cache_file_read,
	.write = cache_file_write,
};

static const struct file_operations dir_fops;

struct inode *ramfs_inode(u32 mode, u32 rdev)
{
	struct inode *inode = inode_alloc(mode);

	if (!inode)
		return NULL;
	inode->rdev = rdev;
	if (inode_is_reg(inode)) {
		inode->fops = &ramfs_fops;
		inode->evict = cache_drop;
	} else if (inode_is_dir(inode)) {
		inode->fops = &dir_fops;
	} else if ((mode & S_IFMT) == S_IFCHR) {
		inode->fops = chrdev_fops(rdev);
	}
	return inode;
}

struct inode *ramfs_symlink(const char *target, size_t len)
{
	char *text = kmalloc(len + 1, GFP_KERNEL | GFP_NORETRY);
	struct inode *inode = text ? inode_alloc(S_IFLNK | 0777) : NULL;

	if (!inode) {
		kfree(text);
		return NULL;
	}
	memcpy(text, target, len);
	text[len] = '\0';
	inode->private = text;
	inode->size = len;
	inode->evict = symlink_evict;
	return inode;
}
