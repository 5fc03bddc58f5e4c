/*
 * From a path to an inode.
 *
 * A walk takes the path component by component, holding one reference, to the current directory. It
 * comes in two parts, because half of its callers create or remove the last name: walk_parent goes
 * as far as the directory of the last component, walk_last takes the last step, too.
 *
 * At a symlink the walk continues from the current directory with the link's text, followed by the
 * rest of the path. So it needs no recursion. After following a last link to a name that does not
 * exist, it is in the directory where that name would be created.
 */
#include "internal.h"

#include "lib/string.h"
#include "mm/slab.h"
#include "sched/current.h"

#define MAX_LINKS 40

/* Looks up an uncached name: asks the directory, under its lock, and caches the answer. */
static int lookup_stored(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	struct dentry *d, *new = dentry_new(name);
	int err;

	if (!new)
		return -ENOMEM;
	mutex_lock(&dir->lock);
	d = dentry_find(dir, name);
	if (d) { /* another task was faster */
		*inode = d->inode;
		if (*inode)
			inode_get(*inode);
		err = *inode ? 0 : -ENOENT;
		kfree(new);
	} else {
		*inode = NULL;
		err = dir->nlink ? dir->ops->lookup(dir, name, inode) : -ENOENT;
		if (!err || (err == -ENOENT && dir->nlink))
			dentry_link(dir, new, *inode);
		else
			kfree(new);
	}
	mutex_unlock(&dir->lock);
	return err;
}

static int lookup(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	if (!dir->ops->lookup)
		return -ENOENT;
	if (dir->state & INODE_STORED)
		return lookup_stored(dir, name, inode);
	return dir->ops->lookup(dir, name, inode);
}

/* Finds the inode of a name, with a reference. Follows nothing. Does not lock the directory. */
static inline int dir_find(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	struct dentry *d = dentry_find(dir, name);

	if (unlikely(!d))
		return lookup(dir, name, inode);
	if (!d->inode)
		return -ENOENT;
	d->used = true;
	*inode = d->inode;
	inode_get(*inode);
	return 0;
}

struct inode *root_directory(void)
{
	return current && current->root ? current->root : vfs_root;
}

static int step_dots(struct inode *dir, const struct path_name *name, struct inode **next)
{
	*next = name->len == 1 || dir == root_directory() ? dir : dir->parent;
	if (!*next)
		return -ENOENT;
	inode_get(*next);
	return 0;
}

/* Replaces a directory by the root mounted on it. */
static void enter_mounts(struct inode **inode)
{
	struct inode *under = *inode;

	while ((*inode)->mounted)
		*inode = (*inode)->mounted;
	inode_get(*inode);
	inode_put(under);
}

/* Takes one step down (or up) from dir, without following links. Stores *next with a reference. */
static inline int step(struct inode *dir, const struct path_name *name, struct inode **next)
{
	int err;

	if (unlikely(name->len > NAME_MAX))
		return -ENAMETOOLONG;
	if (unlikely(path_is_dot(name) || path_is_dotdot(name)))
		return step_dots(dir, name, next);
	err = dir_find(dir, name, next);
	if (!err && unlikely((*next)->mounted != NULL))
		enter_mounts(next);
	return err;
}

struct inode *working_directory(void)
{
	return current && current->cwd ? current->cwd : vfs_root;
}

static void set_dir(struct walk *w, struct inode *dir)
{
	inode_get(dir);
	inode_put(w->dir);
	w->dir = dir;
}

static bool jumps(const struct inode *inode)
{
	return unlikely(inode->ops->jump != NULL) && inode_is_link(inode);
}

int inode_read_link(struct inode *link, char *buf, size_t size)
{
	inode_note_read(link);
	if (link->ops->readlink)
		return link->ops->readlink(link, buf, size);
	return strlcpy(buf, link->private, size) < size ? 0 : -ENAMETOOLONG;
}

/* Continues the walk with a link's text and the rest of the path. */
static int follow_link(struct walk *w, struct inode *link, const char *rest)
{
	char *text;
	int err;

	if (w->links++ == MAX_LINKS)
		return -ELOOP;
	text = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	err = inode_read_link(link, text, PATH_MAX);
	if (!err && strlcat(text, rest, PATH_MAX) >= PATH_MAX)
		err = -ENAMETOOLONG;
	if (err) {
		kfree(text);
		return err;
	}
	kfree(w->made); /* the rest of the path was in it */
	w->made = text;
	return 0;
}

/* Goes from w->dir to the directory of path's last component. */
static int walk_on(struct walk *w, const char *path)
{
	struct inode *next;
	int err;

	if (*path == '/')
		set_dir(w, root_directory());
	while (path_next(&path, &w->last) && !path_at_end(path)) {
		err = step(w->dir, &w->last, &next);
		if (!err && jumps(next))
			err = next->ops->jump(&next);
		if (err)
			return err;
		if (unlikely(inode_is_link(next))) {
			err = follow_link(w, next, path);
			inode_put(next);
			if (err)
				return err;
			path = w->made;
			if (*path == '/')
				set_dir(w, root_directory());
			continue;
		}
		inode_put(w->dir);
		w->dir = next;
		if (!inode_is_dir(next))
			return -ENOTDIR;
	}
	w->slash = *path == '/';
	return 0;
}

int walk_from(struct inode *base, const char *path, struct walk *w)
{
	int err;

	if (!*path)
		return -ENOENT;
	w->dir = base;
	w->links = 0;
	w->made = NULL;
	inode_get(base);
	err = walk_on(w, path);
	if (err)
		walk_end(w);
	return err;
}

int walk_last(struct walk *w, bool follow, struct inode **inode)
{
	for (;;) {
		int err;

		if (!w->last.len) {
			inode_get(w->dir);
			*inode = w->dir;
			return 0;
		}
		err = step(w->dir, &w->last, inode);
		if (err)
			return err;
		if (likely(!inode_is_link(*inode)) || !(follow || w->slash))
			break;
		if (jumps(*inode)) {
			err = (*inode)->ops->jump(inode);
			if (err)
				return err;
			break;
		}
		err = follow_link(w, *inode, w->slash ? "/" : "");
		inode_put(*inode);
		if (!err)
			err = walk_on(w, w->made);
		if (err)
			return err;
	}
	if (w->slash && !inode_is_dir(*inode)) {
		inode_put(*inode);
		return -ENOTDIR;
	}
	return 0;
}

int walk_parent(const char *path, struct walk *w)
{
	return walk_from(working_directory(), path, w);
}

int walk_may_create(const struct walk *w)
{
	if (!w->last.len || path_is_dot(&w->last) || path_is_dotdot(&w->last))
		return -EEXIST;
	if (w->last.len > NAME_MAX)
		return -ENAMETOOLONG;
	if (!w->dir->ops->create)
		return -EPERM;
	if (super_may_change(w->dir->sb))
		return -EROFS;
	return w->dir->parent ? 0 : -ENOENT;
}

int vfs_lookup(const char *path, bool follow, struct inode **inode)
{
	struct inode *found;
	struct walk w;
	int err = walk_parent(path, &w);

	if (err)
		return err;
	err = walk_last(&w, follow, &found);
	walk_end(&w);
	if (!err)
		*inode = found;
	return err;
}
