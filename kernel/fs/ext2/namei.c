/*
 * Looking up names, and new files. A directory is entered only by a name in the directory that its
 * .. refers to, and by only one name. So no disk, however damaged, yields an infinite tree. The
 * state in memory decides, since a program may write to the disk while it is mounted.
 */
#include "ext2.h"

/* Returns 0, -EIO if another directory is its parent or it already has a name, or -ENOMEM. */
static int check_parent(struct inode *dir, struct inode *inode)
{
	const struct path_name dots = { .s = "..", .len = 2 };
	struct ext2_slot slot;
	u32 parent;
	int err;

	if (inode->nr_names)
		return ext2_error(dir->sb, "directory %u has two names", inode->ino);
	err = ext2_find(inode, &dots, &slot);
	if (!err) {
		parent = slot.entry->inode;
		buf_put(&slot.buf);
	}
	if (err == -ENOENT || (!err && (parent != dir->ino || inode->ino == EXT2_ROOT_INO)))
		return ext2_error(dir->sb, "directory %u is not the parent of %u", dir->ino,
				  inode->ino);
	return err;
}

static int lookup(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	struct ext2_slot slot;
	u32 ino;
	int err = ext2_find(dir, name, &slot);

	if (err)
		return err;
	ino = slot.entry->inode;
	buf_put(&slot.buf);
	err = ext2_iget(dir->sb, ino, inode);
	if (err || ext2_kind(*inode) != S_IFDIR)
		return err;
	err = check_parent(dir, *inode);
	if (err)
		inode_put(*inode);
	return err;
}

/* Prepares the contents of a new inode before it gets a name. */
static int furnish(struct inode *dir, struct inode *inode, const char *target)
{
	int err = 0;

	if (ext2_kind(inode) == S_IFDIR) {
		inode->nlink = 2;
		err = ext2_dir_init(inode, dir);
	} else if (ext2_kind(inode) == S_IFLNK) {
		err = ext2_symlink(inode, target);
	}
	return err ? err : ext2_before_name(inode);
}

static int create(struct inode *dir, const struct path_name *name, u32 mode, u32 rdev,
		  const char *target, struct inode **inode)
{
	bool is_dir = (mode & S_IFMT) == S_IFDIR;
	struct ext2_slot slot;
	int err;

	if (is_dir && dir->nlink >= EXT2_MAX_LINKS)
		return -EMLINK;
	err = ext2_inode_create(dir, mode, rdev, inode);
	if (err)
		return err;
	err = furnish(dir, *inode, target);
	if (!err)
		err = ext2_add(dir, name, *inode, &slot);
	if (!err)
		buf_put(&slot.buf);
	inode_ready(*inode);
	if (err) {
		(*inode)->nlink = 0; /* frees it again */
		inode_put(*inode);
		return err;
	}
	ext2_named(*inode);
	if (is_dir) {
		dir->nlink++;
		inode_mark_dirty(dir);
	}
	return 0;
}

const struct inode_operations ext2_dir_ops = {
	.lookup = lookup,
	.create = create,
	.link = ext2_link,
	.unlink = ext2_unlink,
	.rename = ext2_rename,
	.iterate = ext2_iterate,
};

const struct inode_operations ext2_file_ops = {
	.truncate = ext2_cut,
};

const struct inode_operations ext2_link_ops = {
	.readlink = ext2_readlink,
};
