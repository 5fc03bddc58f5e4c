/*
 * Names that come and go: link, unlink, rename.
 *
 * A file whose name moves has two for a moment, and on the disk, where blocks are written in any
 * order, it could have none: the old name's block is written, the power goes. So the new name is
 * written before the old one is taken away, unless one sector has both changes. The same
 * for a name that goes after link gave a file another one, and no flush came in between. And a name
 * that another file had leads to the new one on the disk before the other is freed: so after a cut it
 * leads to one of the two. Everything dirty is written then, which is what ext2_flush can do.
 */
#include "ext2.h"

int ext2_link(struct inode *dir, const struct path_name *name, struct inode *inode)
{
	u32 sector;
	int err;

	if (inode->nlink >= EXT2_MAX_LINKS)
		return -EMLINK;
	inode->nlink++;
	err = ext2_add(dir, name, inode, &sector);
	if (err)
		inode->nlink--;
	else
		ext2_fs(dir->sb)->named_before = ext2_fs(dir->sb)->flushes_begun + 1;
	inode_mark_dirty(inode);
	return err;
}

/* The entry, which must be the inode's. */
static int find_of(struct inode *dir, const struct path_name *name, const struct inode *inode,
		   struct ext2_slot *slot)
{
	int err = ext2_find(dir, name, slot);

	if (!err && slot->entry->inode != inode->ino) {
		buf_put(&slot->buf);
		err = ext2_error(dir->sb, "directory %u names inode %u twice", dir->ino,
				 inode->ino);
	}
	return err;
}

static void drop_link(struct inode *inode)
{
	if (inode->nlink)
		inode->nlink--;
	inode_mark_dirty(inode);
}

/* A directory that was removed: . and the name in dir no longer lead to it. */
static void drop_dir(struct inode *dir, struct inode *inode)
{
	inode->nlink = 0;
	inode_mark_dirty(inode);
	drop_link(dir);
}

/* Takes the name of inode out of dir. 0 or -errno. */
static int name_remove(struct inode *dir, const struct path_name *name, struct inode *inode)
{
	struct ext2_slot slot;
	int err = find_of(dir, name, inode, &slot);

	if (err)
		return err;
	ext2_remove(dir, &slot);
	buf_put(&slot.buf);
	return 0;
}

static int unlink_dir(struct inode *dir, const struct path_name *name, struct inode *inode)
{
	int err = ext2_dir_empty(inode);

	if (!err)
		err = name_remove(dir, name, inode);
	if (!err)
		drop_dir(dir, inode);
	return err;
}

int ext2_unlink(struct inode *dir, const struct path_name *name, struct inode *inode)
{
	const struct ext2_fs *fs = ext2_fs(dir->sb);
	int err = 0;

	if (ext2_kind(inode) == S_IFDIR)
		return unlink_dir(dir, name, inode);
	if (inode->nlink > 1 && fs->named_before > fs->flushed)
		err = ext2_flush(dir->sb);
	if (!err)
		err = name_remove(dir, name, inode);
	if (!err)
		drop_link(inode);
	return err;
}

/* Gives inode the new name; what had it has lost it. *sector: see ext2_add. */
static int name_take(struct inode *to, const struct path_name *new, struct inode *inode,
		     struct inode *replaced, u32 *sector)
{
	struct ext2_slot slot;
	int err;

	if (!replaced)
		return ext2_add(to, new, inode, sector);
	err = find_of(to, new, replaced, &slot);
	if (err)
		return err;
	ext2_point(to, &slot, inode);
	*sector = 0;
	buf_put(&slot.buf);
	return 0;
}

/* The old name cannot go: what name_take did is undone. true: it cannot be, either, and the file keeps both names. */
static bool name_give_back(struct inode *to, const struct path_name *new, struct inode *inode,
			   struct inode *replaced)
{
	struct ext2_slot slot;

	if (find_of(to, new, inode, &slot)) {
		inode->nlink++;
		return true;
	}
	if (replaced)
		ext2_point(to, &slot, replaced);
	else
		ext2_remove(to, &slot);
	buf_put(&slot.buf);
	return false;
}

/* The old name goes, after the new one, in sector `written_first`, is safe. */
static int name_leave(struct inode *from, const struct path_name *old, struct inode *inode,
		      u32 written_first)
{
	struct ext2_slot slot;
	int err = find_of(from, old, inode, &slot);

	if (err)
		return err;
	if (ext2_removal_sector(&slot) != written_first)
		err = ext2_flush(from->sb);
	if (!err)
		ext2_remove(from, &slot);
	buf_put(&slot.buf);
	return err;
}

/* A directory has moved: its .. follows. */
static int parent_change(struct inode *inode, struct inode *from, struct inode *to)
{
	const struct path_name dots = { .s = "..", .len = 2 };
	struct ext2_slot slot;
	int err = ext2_find(inode, &dots, &slot);

	if (err)
		return err;
	ext2_point(inode, &slot, to);
	buf_put(&slot.buf);
	to->nlink++;
	inode_mark_dirty(to);
	drop_link(from);
	return 0;
}

int ext2_rename(struct inode *from, const struct path_name *old, struct inode *to,
		const struct path_name *new, struct inode *inode, struct inode *replaced)
{
	bool moves = from != to && ext2_kind(inode) == S_IFDIR;
	struct ext2_slot slot;
	u32 sector;
	int err = 0;

	if (moves && !replaced && to->nlink >= EXT2_MAX_LINKS)
		return -EMLINK;
	if (replaced && ext2_kind(replaced) == S_IFDIR)
		err = ext2_dir_empty(replaced);
	if (!err)
		err = find_of(from, old, inode, &slot);
	if (err)
		return err;
	buf_put(&slot.buf);
	err = name_take(to, new, inode, replaced, &sector);
	if (err)
		return err;
	if (moves)
		err = parent_change(inode, from, to);
	if (!err) {
		err = name_leave(from, old, inode, sector);
		if (err && moves)
			parent_change(inode, to, from);
	}
	if (err && !name_give_back(to, new, inode, replaced))
		replaced = NULL; /* it has its name again */
	if (replaced && ext2_kind(replaced) == S_IFDIR)
		drop_dir(to, replaced);
	else if (replaced)
		drop_link(replaced);
	inode_mark_dirty(inode);
	return err;
}
