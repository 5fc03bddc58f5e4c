/*
 * In-memory files: a regular file is its page cache and nothing else (mm/cache/cache.c). There is
 * no backing store, so its pages are never reclaimed (as in Linux's ramfs). Programs run from here,
 * so their text and clean data do not compete with anonymous memory, which most policies deal with.
 *
 * Left out: concurrent writes by two tasks are atomic only for each page.
 */
#include "internal.h"

#include "lib/string.h"
#include "mm/cache.h"
#include "mm/slab.h"

static const struct file_operations ramfs_fops;

/* Does the file have a page cache: is it a regular file of ramfs, tmpfs, or a file system on a
 * device? */
static bool has_pages(const struct inode *inode)
{
	return inode_is_reg(inode) && inode->fops->read == cache_file_read;
}

long vfs_read_kernel(struct inode *inode, u64 pos, void *to, size_t n)
{
	return has_pages(inode) ? cache_read_kernel(inode, pos, to, n) : -EINVAL;
}

int vfs_get_page(struct inode *inode, u32 index, struct page **page)
{
	return has_pages(inode) ? cache_get_page(inode, index, page) : -EINVAL;
}

int ramfs_append(struct inode *inode, const void *from, size_t n)
{
	return cache_append_kernel(inode, from, n);
}

/* The file consists only of its pages, which the caller truncates. */
int ramfs_truncate(struct inode *inode, u64 size)
{
	(void)inode, (void)size;
	return 0;
}

void ramfs_room(struct kstatfs *st)
{
	cache_room(&st->blocks, &st->blocks_free);
	st->blocks_available = st->blocks_free;
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

struct inode *ramfs_inode(struct super_block *sb, u32 mode, u32 rdev)
{
	struct inode *inode = inode_alloc(sb, mode);

	if (!inode)
		return NULL;
	inode->ops = &ramfs_ops;
	inode->rdev = rdev;
	if (inode_is_reg(inode)) {
		inode->fops = &ramfs_fops;
		inode->evict = cache_drop;
		inode->cache.ops = sb->swaps ? &shmem_ops : NULL;
	} else {
		inode_set_special(inode);
	}
	return inode;
}

struct inode *ramfs_symlink(struct super_block *sb, const char *target, size_t len)
{
	char *text = kmalloc(len + 1, GFP_KERNEL | GFP_NORETRY);
	struct inode *inode = text ? inode_alloc(sb, S_IFLNK | 0777) : NULL;

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
