/*
 * Making and removing names. Whatever allocates comes first; then everything is looked up, checked
 * and changed without sleeping, so that no other task can come between.
 */
#include "internal.h"

#include "mm/slab.h"

int walk_create(struct walk *w, struct inode *inode)
{
	struct dentry *d;
	int err;

	if (w->last.len > NAME_MAX)
		return -ENAMETOOLONG;
	d = dentry_new(&w->last, inode);
	if (!d)
		return -ENOSPC;
	err = walk_may_create(w);
	if (!err && dentry_find(w->dir, &w->last))
		err = -EEXIST;
	if (err)
		dentry_free(d);
	else
		dentry_link(w->dir, d);
	return err;
}

int vfs_mkdir(const char *path, u32 mode)
{
	struct inode *dir;
	struct walk w;
	int err = walk_parent(path, &w);

	if (err)
		return err;
	dir = ramfs_inode(S_IFDIR | (mode & 07777), 0);
	if (dir) {
		err = walk_create(&w, dir);
		inode_put(dir);
	} else {
		err = -ENOSPC;
	}
	inode_put(w.dir);
	return err;
}

/* The entry that a path ends in, for removing or replacing it; 0 or -errno. */
static int find_entry(struct walk *w, struct dentry **d)
{
	int err = walk_may_create(w);

	if (err)
		return err == -EEXIST ? -EINVAL : err;
	*d = dentry_find(w->dir, &w->last);
	return *d ? 0 : -ENOENT;
}

int vfs_unlink(const char *path)
{
	struct dentry *d;
	struct walk w;
	int err = walk_parent(path, &w);

	if (err)
		return err;
	err = find_entry(&w, &d);
	if (!err && inode_is_dir(d->inode))
		err = -EISDIR;
	if (!err && w.slash)
		err = -ENOTDIR;
	if (!err)
		dentry_remove(w.dir, d);
	inode_put(w.dir);
	return err;
}

/* A directory goes only when nothing is in it, and those that the kernel fills never. */
static int may_remove_dir(const struct inode *dir)
{
	if (!inode_is_dir(dir))
		return -ENOTDIR;
	if (dir->sealed)
		return -EBUSY;
	return list_empty(&dir->entries) ? 0 : -ENOTEMPTY;
}

int vfs_rmdir(const char *path)
{
	struct dentry *d;
	struct walk w;
	int err = walk_parent(path, &w);

	if (err)
		return err;
	err = find_entry(&w, &d);
	if (!err)
		err = may_remove_dir(d->inode);
	if (!err)
		dentry_remove(w.dir, d);
	inode_put(w.dir);
	return err;
}

static bool is_inside(const struct inode *dir, const struct inode *tree)
{
	for (; dir; dir = dir->parent) {
		if (dir == tree)
			return true;
		if (dir == vfs_root)
			break;
	}
	return false;
}

/* May what `from` names take the place of `old` (NULL: of nothing) in dir? */
static int may_replace(struct inode *inode, const struct dentry *old, const struct inode *dir)
{
	if (inode->sealed)
		return -EBUSY;
	if (inode_is_dir(inode) && is_inside(dir, inode))
		return -EINVAL;
	if (!old)
		return 0;
	if (inode_is_dir(inode))
		return may_remove_dir(old->inode);
	return inode_is_dir(old->inode) ? -EISDIR : 0;
}

/* Checks all, then puts `new` (a dentry for the moved inode) in; on failure nothing changes. */
static int rename_entry(struct walk *from, struct walk *to, struct dentry *new)
{
	struct inode *inode = new->inode;
	struct dentry *d, *old;
	int err = find_entry(from, &d);

	if (!err && d->inode != inode)
		err = -ENOENT;
	if (!err)
		err = walk_may_create(to);
	if (!err && !inode_is_dir(inode) && (from->slash || to->slash))
		err = -ENOTDIR;
	if (err)
		return err;
	old = dentry_find(to->dir, &to->last);
	err = may_replace(inode, old, to->dir);
	if (err)
		return err;
	if (old)
		dentry_remove(to->dir, old);
	dentry_link(to->dir, new);
	dentry_remove(from->dir, d);
	inode->parent = to->dir;
	return 0;
}

static int rename_walked(struct walk *from, struct walk *to)
{
	struct dentry *d, *old, *new;
	int err = find_entry(from, &d);

	if (err)
		return err;
	if (to->last.len > NAME_MAX)
		return -ENAMETOOLONG;
	old = dentry_find(to->dir, &to->last);
	if (old && old->inode == d->inode)
		return 0;
	new = dentry_new(&to->last, d->inode);
	if (!new)
		return -ENOSPC;
	err = rename_entry(from, to, new);
	if (err)
		dentry_free(new);
	return err;
}

int vfs_rename(const char *from, const char *to)
{
	struct walk wf, wt;
	int err = walk_parent(from, &wf);

	if (err)
		return err;
	err = walk_parent(to, &wt);
	if (!err) {
		err = rename_walked(&wf, &wt);
		inode_put(wt.dir);
	}
	inode_put(wf.dir);
	return err;
}
