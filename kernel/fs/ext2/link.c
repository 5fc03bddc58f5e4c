/*
 * Adding, removing and moving names: link, unlink, rename.
 *
 * A renamed file has two names for a moment: the new one is entered first, then the old one is
 * removed. What must be on the disk in between, order.c decides. If it fails, the new name is
 * undone, for which all blocks that a rename changes are held in memory.
 */
#include "ext2.h"

int ext2_link(struct inode *dir, const struct path_name *name, struct inode *inode)
{
	struct ext2_slot slot;
	int err;

	if (inode->nlink >= EXT2_MAX_LINKS)
		return -EMLINK;
	inode->nlink++;
	err = ext2_add(dir, name, inode, &slot);
	if (err) {
		inode->nlink--;
	} else {
		buf_put(&slot.buf);
		ext2_named(inode);
	}
	inode_mark_dirty(inode);
	return err;
}

/* Finds the entry, which must refer to the inode. */
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

/* Corrects the link counts after a directory was removed: . and the name in dir no longer refer to
 * it. */
static void drop_dir(struct inode *dir, struct inode *inode)
{
	inode->nlink = 0;
	inode_mark_dirty(inode);
	drop_link(dir);
}

/* Removes the name of inode from dir. Returns 0 or -errno. */
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
	int err;

	if (ext2_kind(inode) == S_IFDIR)
		return unlink_dir(dir, name, inode);
	err = ext2_is_logged(inode->sb) ? 0 : ext2_before_unname(inode);
	if (!err)
		err = name_remove(dir, name, inode);
	if (!err)
		drop_link(inode);
	return err;
}

/* A rename, with all blocks that it changes held in memory, so that undoing it needs no read. */
struct renaming {
	struct inode *from, *to, *inode, *replaced;
	bool moves; /* a directory moves to another one: its .. must change */
	struct ext2_slot old, new, dots;
};

static int hold_new(struct renaming *r, const struct path_name *name)
{
	if (!r->replaced)
		return ext2_add(r->to, name, r->inode, &r->new);
	r->new.sector = 0;
	return find_of(r->to, name, r->replaced, &r->new);
}

/* Makes the new name refer to its former inode, or removes it. */
static void give_back_new(struct renaming *r)
{
	if (r->replaced)
		ext2_point(r->to, &r->new, r->replaced);
	else
		ext2_remove(r->to, &r->new);
}

/* Creates the new name first, since it may be placed before the old one. Returns 0, or -errno with
 * nothing changed. */
static int hold(struct renaming *r, const struct path_name *old, const struct path_name *new)
{
	const struct path_name dots = { .s = "..", .len = 2 };
	int err = hold_new(r, new);

	if (err)
		return err;
	err = r->moves ? ext2_find(r->inode, &dots, &r->dots) : 0;
	if (err)
		goto give_back;
	err = find_of(r->from, old, r->inode, &r->old);
	if (!err)
		return 0;
	if (r->moves)
		buf_put(&r->dots.buf);
give_back:
	give_back_new(r);
	buf_put(&r->new.buf);
	return err;
}

static void let_go(struct renaming *r)
{
	buf_put(&r->new.buf);
	buf_put(&r->old.buf);
	if (r->moves)
		buf_put(&r->dots.buf);
}

static void change_parent(struct renaming *r, struct inode *from, struct inode *to)
{
	if (!r->moves)
		return;
	ext2_point(r->inode, &r->dots, to);
	to->nlink++;
	inode_mark_dirty(to);
	drop_link(from);
}

/* Removes the old name once the new one is safe on the disk. If that fails, undoes everything. */
static int move(struct renaming *r)
{
	int err = 0;

	if (r->replaced)
		ext2_point(r->to, &r->new, r->inode);
	change_parent(r, r->from, r->to);
	if (!ext2_is_logged(r->from->sb))
		err = ext2_before_move(r->from->sb, r->new.sector, ext2_removal_sector(&r->old));
	if (!err) {
		ext2_remove(r->from, &r->old);
		return 0;
	}
	change_parent(r, r->to, r->from);
	give_back_new(r);
	return err;
}

int ext2_rename(struct inode *from, const struct path_name *old, struct inode *to,
		const struct path_name *new, struct inode *inode, struct inode *replaced)
{
	struct renaming r = { .from = from, .to = to, .inode = inode, .replaced = replaced };
	int err = 0;

	r.moves = from != to && ext2_kind(inode) == S_IFDIR;
	if (r.moves && !replaced && to->nlink >= EXT2_MAX_LINKS)
		return -EMLINK;
	if (replaced && ext2_kind(replaced) == S_IFDIR)
		err = ext2_dir_empty(replaced);
	if (!err)
		err = hold(&r, old, new);
	if (err)
		return err;
	err = move(&r);
	let_go(&r);
	if (!err && replaced && ext2_kind(replaced) == S_IFDIR)
		drop_dir(to, replaced);
	else if (!err && replaced)
		drop_link(replaced);
	inode_mark_dirty(inode);
	return err;
}
