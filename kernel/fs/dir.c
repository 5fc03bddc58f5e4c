/*
 * Creating, removing and renaming by path, in the steps that create.c describes.
 *
 * A rename locks two directories. Only one rename between two directories runs at a time
 * (rename_lock). If one of the two contains the other, it is locked first. So two renames cannot
 * wait for each other, and the tree above them cannot change during the check for a loop.
 */
#include "internal.h"

#include "fs/gate.h"
#include "mm/slab.h"
#include "sched/current.h"

static struct mutex rename_lock = { .waiters = { LIST_HEAD_INIT(rename_lock.waiters.waiters) } };

/* Looks up a name in a locked directory: stores its inode, with a reference, and its dentry, if
 * any. */
static int find_locked(struct inode *dir, const struct path_name *name, struct inode **inode,
		       struct dentry **entry)
{
	struct dentry *d = dentry_find(dir, name);

	*entry = d;
	if (!d)
		return dir->ops->lookup ? dir->ops->lookup(dir, name, inode) : -ENOENT;
	if (!d->inode)
		return -ENOENT;
	*inode = d->inode;
	inode_get(*inode);
	return 0;
}

static int make(const char *path, u32 mode, u32 rdev, const char *target)
{
	struct walk w;
	int err = walk_parent(path, &w);

	if (err)
		return err;
	if (w.slash && (mode & S_IFMT) != S_IFDIR)
		err = -ENOENT;
	if (!err)
		err = walk_create(&w, mode, rdev, target, NULL);
	walk_end(&w);
	return err;
}

int vfs_mkdir(const char *path, u32 mode)
{
	return make(path, S_IFDIR | (mode & 07777), 0, NULL);
}

int vfs_mknod(const char *path, u32 mode, u32 rdev)
{
	return make(path, mode, rdev, NULL);
}

int vfs_symlink(const char *target, const char *path)
{
	return *target ? make(path, S_IFLNK | 0777, 0, target) : -ENOENT;
}

int vfs_link(const struct path_at *from, const struct path_at *to, bool follow)
{
	struct walk wf, wt;
	struct inode *inode;
	int err = walk_parent_at(from, &wf);

	if (err)
		return err;
	err = walk_last(&wf, follow, &inode);
	walk_end(&wf);
	if (err)
		return err;
	err = walk_parent_at(to, &wt);
	if (!err) {
		err = wt.slash || !inode->nlink ? -ENOENT : walk_link(&wt, inode);
		walk_end(&wt);
	}
	inode_put(inode);
	return err;
}

/* Finds the last name of a walk, to remove it. dots: the error for . and .. and /. */
static int find_entry(struct walk *w, int dots, struct inode **inode, struct dentry **entry)
{
	int err = walk_may_create(w);

	if (err == -EEXIST)
		return dots;
	return err ? err : find_locked(w->dir, &w->last, inode, entry);
}

/* Does any cached name of the directory refer to an inode? */
static bool dentry_any(const struct inode *dir)
{
	const struct dentry *d;

	list_for_each_entry(d, &dir->entries, node)
		if (d->inode)
			return true;
	return false;
}

/* May this in-memory directory be removed? (A file system on a device checks its own.) Returns 0 or
 * -errno. */
static int may_go(const struct inode *inode)
{
	return inode->mounted ? -EBUSY : dentry_any(inode) ? -ENOTEMPTY : 0;
}

/* Locks a directory while removing it, so that no name is added and no file system mounted on
 * it. */
static int unlink_locked(struct walk *w, struct inode *inode, struct dentry *entry)
{
	struct inode *dir = w->dir;
	int err = super_begin_change(dir->sb);

	if (err)
		return err;
	if (inode_is_dir(inode))
		mutex_lock(&inode->lock);
	err = may_go(inode) ?: dir->ops->unlink(dir, &w->last, inode);
	if (!err) {
		name_forget(dir, &w->last, entry);
		inode_touch(dir);
		inode_changed(inode);
	}
	if (inode_is_dir(inode))
		mutex_unlock(&inode->lock);
	super_end_change(dir->sb);
	return err;
}

/* May rmdir or unlink remove the name? */
static int may_remove(const struct walk *w, const struct inode *inode, bool by_rmdir)
{
	if (inode->state & INODE_SWAP) /* swapoff could no longer find it */
		return -EPERM;
	if (inode_is_dir(inode) != by_rmdir)
		return by_rmdir ? -ENOTDIR : -EISDIR;
	if (!by_rmdir && w->slash)
		return -ENOTDIR;
	return inode->mounted ? -EBUSY : 0;
}

static int remove_walked(struct walk *w, bool by_rmdir)
{
	struct dentry *entry = NULL;
	struct inode *inode;
	int err, dots = -EISDIR;

	if (by_rmdir)
		dots = !w->last.len ? -EBUSY : path_is_dot(&w->last) ? -EINVAL : -ENOTEMPTY;
	mutex_lock(&w->dir->lock);
	err = find_entry(w, dots, &inode, &entry);
	if (err) {
		inode = NULL;
	} else {
		err = may_remove(w, inode, by_rmdir);
		if (!err)
			err = unlink_locked(w, inode, entry);
	}
	mutex_unlock(&w->dir->lock);
	if (inode)
		inode_put(inode); /* dropping the last reference frees, and may sleep */
	return err;
}

static int remove_path(const char *path, bool by_rmdir)
{
	struct walk w;
	int err = walk_parent(path, &w);

	if (err)
		return err;
	log_begin(w.dir->sb);
	err = remove_walked(&w, by_rmdir);
	log_end(w.dir->sb, err);
	walk_end(&w);
	return err;
}

int vfs_unlink(const char *path)
{
	return remove_path(path, false);
}

int vfs_rmdir(const char *path)
{
	return remove_path(path, true);
}

static bool is_inside(const struct inode *dir, const struct inode *tree)
{
	for (; dir; dir = dir->parent) {
		if (dir == tree)
			return true;
		if (dir == dir->parent) /* the root of all, or a covered root */
			break;
	}
	return false;
}

/* May inode, a name in `from`, replace old (may be NULL) in `to`? */
static int may_move(const struct walk *from, const struct walk *to, const struct inode *inode,
		    const struct inode *old)
{
	if ((inode->state | (old ? old->state : 0)) & INODE_SWAP)
		return -EPERM;
	if (!inode_is_dir(inode) && (from->slash || to->slash))
		return -ENOTDIR;
	if (inode_is_dir(inode) && is_inside(to->dir, inode))
		return -EINVAL;
	if (old && is_inside(from->dir, old))
		return -ENOTEMPTY;
	if (old && inode_is_dir(inode) != inode_is_dir(old))
		return inode_is_dir(old) ? -EISDIR : -ENOTDIR;
	return inode->mounted || (old && old->mounted) ? -EBUSY : 0;
}

/* One side of a rename: a name in a locked directory and its inode. */
struct side {
	struct walk *w;
	struct inode *inode; /* counted, or NULL */
	struct dentry *entry;
};

/* Renames after all checks, with both directories locked. Returns 0 or the file system's error. */
static int move_name(const struct side *a, const struct side *b)
{
	struct walk *from = a->w, *to = b->w;
	struct inode *inode = a->inode, *old = b->inode;
	struct dentry *new = dentry_new(&to->last);
	int err;

	if (!new)
		return -ENOMEM;
	if (old && inode_is_dir(old))
		mutex_lock(&old->lock);
	err = old ? may_go(old) : 0;
	if (!err)
		err = from->dir->ops->rename(from->dir, &from->last, to->dir, &to->last, inode,
					     old);
	if (!err) {
		name_forget(to->dir, &to->last, b->entry);
		name_set(to->dir, new, inode);
		name_forget(from->dir, &from->last, a->entry);
		inode_touch(from->dir);
		inode->parent = to->dir;
		inode_changed(inode);
		if (old)
			inode_changed(old);
	}
	if (old && inode_is_dir(old))
		mutex_unlock(&old->lock);
	if (err)
		kfree(new);
	return err;
}

static int find_side(struct side *side, int dots)
{
	int err = find_entry(side->w, dots, &side->inode, &side->entry);

	if (err)
		side->inode = NULL;
	return err;
}

static int rename_locked(struct side *from, struct side *to, u32 flags)
{
	int err = find_side(from, -EBUSY);

	if (err)
		return err;
	err = find_side(to, flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY);
	if (err && err != -ENOENT)
		return err;
	if (!to->w->dir->parent)
		return -ENOENT;
	if (to->inode && flags & RENAME_NOREPLACE)
		return -EEXIST;
	if (to->inode == from->inode)
		return 0;
	err = may_move(from->w, to->w, from->inode, to->inode)
		      ?: super_begin_change(to->w->dir->sb);
	if (err)
		return err;
	err = move_name(from, to);
	super_end_change(to->w->dir->sb);
	return err;
}

static void lock_two(struct inode *a, struct inode *b)
{
	struct inode *first = a;

	if (a != b) {
		mutex_lock(&rename_lock);
		first = is_inside(a, b) ? b : a;
	}
	mutex_lock(&first->lock);
	if (a != b)
		mutex_lock(first == a ? &b->lock : &a->lock);
}

static void unlock_two(struct inode *a, struct inode *b)
{
	mutex_unlock(&a->lock);
	if (a == b)
		return;
	mutex_unlock(&b->lock);
	mutex_unlock(&rename_lock);
}

static int rename_walked(struct walk *wf, struct walk *wt, u32 flags)
{
	struct side from = { .w = wf }, to = { .w = wt };
	int err;

	if (wf->dir->sb != wt->dir->sb)
		return -EXDEV;
	lock_two(wf->dir, wt->dir);
	err = rename_locked(&from, &to, flags);
	unlock_two(wf->dir, wt->dir);
	if (from.inode)
		inode_put(from.inode);
	if (to.inode)
		inode_put(to.inode);
	return err;
}

int vfs_rename(const struct path_at *from, const struct path_at *to, u32 flags)
{
	struct walk wf, wt;
	int err = walk_parent_at(from, &wf);

	if (err)
		return err;
	err = walk_parent_at(to, &wt);
	if (!err) {
		do {
			log_begin(wt.dir->sb);
			err = rename_walked(&wf, &wt, flags);
		} while (log_end(wt.dir->sb, err));
		walk_end(&wt);
	}
	walk_end(&wf);
	return err;
}
