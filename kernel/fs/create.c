/*
 * Creating names.
 *
 * Each change of a directory has the same steps: allocate memory; then, under the directory's lock,
 * look up, check, call the file system, which may sleep, and finally update the cached names. So
 * the cached names never claim what the device does not have.
 */
#include "internal.h"

#include "fs/gate.h"
#include "mm/slab.h"
#include "sched/current.h"

void name_forget(struct inode *dir, const struct path_name *name, struct dentry *d)
{
	if (dir->state & INODE_STORED)
		d = dentry_find(dir, name);
	if (d)
		dentry_remove(d);
}

void name_set(struct inode *dir, struct dentry *new, struct inode *inode)
{
	if (dir->state & INODE_STORED) /* there may be a negative entry */
		name_forget(dir, &(struct path_name){ new->name, new->len, new->hash }, NULL);
	dentry_link(dir, new, inode);
	inode_touch(dir);
}

/* Returns 0 if the name is free in the locked directory and may be created there. */
static int check_free(const struct walk *w)
{
	struct dentry *d = dentry_find(w->dir, &w->last);
	int err = walk_may_create(w), found;
	struct inode *there;

	if (unlikely(err && err != -EROFS))
		return err;
	if (d || !w->dir->ops->lookup)
		return d && d->inode ? -EEXIST : err;
	found = w->dir->ops->lookup(w->dir, &w->last, &there);
	if (found)
		return found == -ENOENT ? err : found;
	inode_put(there);
	return -EEXIST;
}

/* Makes current the owner of a new file. At boot there is no current: then root owns it. */
static void take_owner(struct inode *inode)
{
	const struct cred *c = current ? &current->cred : NULL;

	if (likely(!c || !(c->user.effective | c->group.effective)))
		return;
	inode->uid = c->user.effective;
	inode->gid = c->group.effective;
	inode_changed(inode);
}

/* Creates a name in the locked directory. d: for its cached name. */
static int create_locked(struct walk *w, u32 mode, u32 rdev, const char *target, struct dentry *d,
			 struct inode **made)
{
	struct inode *dir = w->dir;
	int err = check_free(w);

	if (!err)
		err = super_begin_change(dir->sb);
	if (err)
		return err;
	err = dir->ops->create(dir, &w->last, mode, rdev, target, made);
	if (!err) {
		take_owner(*made);
		name_set(dir, d, *made);
	}
	super_end_change(dir->sb);
	return err;
}

int walk_create(struct walk *w, u32 mode, u32 rdev, const char *target, struct inode **inode)
{
	struct inode *dir = w->dir, *made;
	struct dentry *d;
	int err;

	if (w->last.len > NAME_MAX)
		return -ENAMETOOLONG;
	d = dentry_new(&w->last);
	if (!d)
		return -ENOMEM;
	do {
		log_begin(dir->sb);
		mutex_lock(&dir->lock);
		err = create_locked(w, mode, rdev, target, d, &made);
		mutex_unlock(&dir->lock);
	} while (log_end(dir->sb, err));
	if (err)
		kfree(d);
	else if (inode)
		*inode = made;
	else
		inode_put(made);
	return err;
}

static int link_locked(struct walk *w, struct dentry *d, struct inode *inode)
{
	struct inode *dir = w->dir;
	int err = check_free(w);

	if (!err)
		err = super_begin_change(dir->sb);
	if (err)
		return err;
	err = dir->ops->link ? dir->ops->link(dir, &w->last, inode) : -EPERM;
	if (!err) {
		name_set(dir, d, inode);
		inode_changed(inode);
	}
	super_end_change(dir->sb);
	return err;
}

int walk_link(struct walk *w, struct inode *inode)
{
	struct inode *dir = w->dir;
	struct dentry *d;
	int err;

	if (dir->sb != inode->sb)
		return -EXDEV;
	if (inode_is_dir(inode))
		return -EPERM;
	if (w->last.len > NAME_MAX)
		return -ENAMETOOLONG;
	d = dentry_new(&w->last);
	if (!d)
		return -ENOMEM;
	do {
		log_begin(dir->sb);
		mutex_lock(&dir->lock);
		err = link_locked(w, d, inode);
		mutex_unlock(&dir->lock);
	} while (log_end(dir->sb, err));
	if (err)
		kfree(d);
	return err;
}
