/*
 * In-memory directories: the names are dentries (dcache.c), which the core creates and removes, so
 * this file only creates inodes and counts their names.
 */
#include "internal.h"

#include "lib/string.h"
#include "mm/zone.h"

#define RAMFS_MAGIC 0x858458f6u

/* Counts a new name of inode in dir. */
static void add_name(struct inode *dir, struct inode *inode)
{
	inode->nlink++;
	if (inode_is_dir(inode)) {
		inode->nlink++;
		dir->nlink++;
	}
}

static void drop_name(struct inode *dir, struct inode *inode)
{
	inode->nlink--;
	if (inode_is_dir(inode)) {
		inode->nlink--;
		dir->nlink--;
	}
}

static int ramfs_create(struct inode *dir, const struct path_name *name, u32 mode, u32 rdev,
			const char *target, struct inode **inode)
{
	(void)name;
	if (target)
		*inode = ramfs_symlink(dir->sb, target, strlen(target));
	else
		*inode = ramfs_inode(dir->sb, mode, rdev);
	if (!*inode)
		return -ENOMEM;
	add_name(dir, *inode);
	return 0;
}

static int ramfs_link(struct inode *dir, const struct path_name *name, struct inode *inode)
{
	(void)name;
	add_name(dir, inode);
	return 0;
}

static int ramfs_unlink(struct inode *dir, const struct path_name *name, struct inode *inode)
{
	(void)name;
	drop_name(dir, inode);
	return 0;
}

static int ramfs_rename(struct inode *from, const struct path_name *old, struct inode *to,
			const struct path_name *new, struct inode *inode, struct inode *replaced)
{
	(void)old, (void)new;
	if (replaced)
		drop_name(to, replaced);
	add_name(to, inode);
	drop_name(from, inode);
	return 0;
}

const struct inode_operations ramfs_ops = {
	.create = ramfs_create,
	.link = ramfs_link,
	.unlink = ramfs_unlink,
	.rename = ramfs_rename,
	.truncate = ramfs_truncate,
};

static int ramfs_statfs(struct super_block *sb, struct kstatfs *st)
{
	(void)sb;
	*st = (struct kstatfs){ .magic = RAMFS_MAGIC, .block_size = PAGE_SIZE };
	ramfs_room(st);
	return 0;
}

const struct super_operations ramfs_super_ops = { .statfs = ramfs_statfs };

int ramfs_mount(struct super_block *sb, const char *options)
{
	(void)options;
	sb->ops = &ramfs_super_ops;
	sb->block_size = PAGE_SIZE;
	sb->block_bits = PAGE_SHIFT;
	sb->root = ramfs_inode(sb, S_IFDIR | 0755, 0);
	if (!sb->root)
		return -ENOMEM;
	sb->root->nlink = 2;
	return 0;
}
