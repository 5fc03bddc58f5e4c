/*
 * From a path to an inode.
 *
 * A walk takes the path component by component, holding one reference, to the directory it
 * stands in. It comes in two parts, because half of its callers want to make or remove the last
 * name: walk_parent goes as far as the directory of the last component, walk_last takes that
 * step too.
 *
 * A symlink is replaced by the inode that its text leads to, by walking that text from the
 * directory that holds the link: recursion, bounded by MAX_LINKS for one path in all. The text
 * of most links is in memory for as long as the inode is; that of a link with a readlink hook
 * (/proc/self) is made in a buffer.
 *
 * Left out: creating a file through a dangling symlink, which is -ENOENT here.
 */
#include "internal.h"

#include "lib/string.h"
#include "mm/slab.h"
#include "proc/task.h"

#define MAX_LINKS 8

static int resolve(struct inode *base, const char *path, bool follow, u32 *links,
		   struct inode **inode);

/* A name that is not in memory. The directory is asked under its lock, and what it says is kept. */
static int lookup_stored(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	struct dentry *d, *new = dentry_new(name);
	int err;

	if (!new)
		return -ENOMEM;
	mutex_lock(&dir->lock);
	d = dentry_find(dir, name);
	if (d) { /* another task was quicker */
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

int dir_find(struct inode *dir, const struct path_name *name, struct inode **inode)
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

static int step_dots(struct inode *dir, const struct path_name *name, struct inode **next)
{
	*next = name->len == 1 ? dir : dir->parent;
	if (!*next)
		return -ENOENT;
	inode_get(*next);
	return 0;
}

/* What is mounted there in place of a directory. */
static void enter_mounts(struct inode **inode)
{
	struct inode *under = *inode;

	while ((*inode)->mounted)
		*inode = (*inode)->mounted;
	inode_get(*inode);
	inode_put(under);
}

/* One step down (or up) from dir; no link is followed. A reference comes with *next. */
static int step(struct inode *dir, const struct path_name *name, struct inode **next)
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

/* Replaces *inode, a symlink found in dir, by what it leads to. Its reference goes in any case. */
static int follow_link(struct inode *dir, struct inode **inode, u32 *links)
{
	struct inode *link = *inode;
	char *made = NULL;
	int err = -ELOOP;

	if (++*links > MAX_LINKS)
		goto out;
	err = 0;
	inode_note_read(link);
	if (link->ops->readlink) {
		made = kmalloc(PATH_MAX, GFP_KERNEL);
		err = made ? link->ops->readlink(link, made, PATH_MAX) : -ENOMEM;
	}
	if (!err)
		err = resolve(dir, made ? made : link->private, true, links, inode);
	kfree(made);
out:
	inode_put(link);
	return err;
}

/* walk_parent from the directory base. */
static int walk_from(struct inode *base, const char *path, struct walk *w)
{
	struct inode *dir = *path == '/' ? vfs_root : base, *next;
	int err;

	if (!*path)
		return -ENOENT;
	inode_get(dir);
	while (path_next(&path, &w->last) && !path_at_end(path)) {
		err = step(dir, &w->last, &next);
		if (!err && inode_is_link(next))
			err = follow_link(dir, &next, &w->links);
		inode_put(dir);
		if (err)
			return err;
		dir = next;
		if (!inode_is_dir(dir)) {
			inode_put(dir);
			return -ENOTDIR;
		}
	}
	w->slash = *path == '/';
	w->dir = dir;
	return 0;
}

int walk_last(struct walk *w, bool follow, struct inode **inode)
{
	int err;

	if (!w->last.len) {
		inode_get(w->dir);
		*inode = w->dir;
		return 0;
	}
	err = step(w->dir, &w->last, inode);
	if (!err && inode_is_link(*inode) && (follow || w->slash))
		err = follow_link(w->dir, inode, &w->links);
	if (!err && w->slash && !inode_is_dir(*inode)) {
		inode_put(*inode);
		err = -ENOTDIR;
	}
	return err;
}

static int resolve(struct inode *base, const char *path, bool follow, u32 *links,
		   struct inode **inode)
{
	struct walk w = { .links = *links };
	int err = walk_from(base, path, &w);

	if (err)
		return err;
	err = walk_last(&w, follow, inode);
	inode_put(w.dir);
	*links = w.links;
	return err;
}

static struct inode *working_directory(void)
{
	return current && current->cwd ? current->cwd : vfs_root;
}

int walk_parent(const char *path, struct walk *w)
{
	w->links = 0;
	return walk_from(working_directory(), path, w);
}

int walk_parent_at(const struct path_at *at, struct walk *w)
{
	w->links = 0;
	return walk_from(at->base ? at->base : working_directory(), at->name, w);
}

int walk_may_create(const struct walk *w)
{
	if (!w->last.len || path_is_dot(&w->last) || path_is_dotdot(&w->last))
		return -EEXIST;
	if (w->last.len > NAME_MAX)
		return -ENAMETOOLONG;
	if (!w->dir->ops->create)
		return -EPERM;
	if (w->dir->sb->read_only)
		return -EROFS;
	return w->dir->parent ? 0 : -ENOENT;
}

int vfs_lookup(const char *path, bool follow, struct inode **inode)
{
	u32 links = 0;

	return resolve(working_directory(), path, follow, &links, inode);
}

int vfs_chdir(const char *path)
{
	struct inode *dir, *old = current->cwd;
	int err = vfs_lookup(path, true, &dir);

	if (err)
		return err;
	if (!inode_is_dir(dir)) {
		inode_put(dir);
		return -ENOTDIR;
	}
	current->cwd = dir;
	if (old)
		inode_put(old);
	return 0;
}

int vfs_readlink(const char *path, char *buf, size_t n)
{
	struct inode *link;
	char *text;
	int err = vfs_lookup(path, false, &link);

	if (err)
		return err;
	text = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!inode_is_link(link))
		err = -EINVAL;
	else if (!text)
		err = -ENOMEM;
	else if (link->ops->readlink)
		err = link->ops->readlink(link, text, PATH_MAX);
	else
		strlcpy(text, link->private, PATH_MAX);
	if (!err) {
		inode_note_read(link);
		err = MIN(strlen(text), n);
		memcpy(buf, text, err);
	}
	kfree(text);
	inode_put(link);
	return err;
}

/* The first name of an inode in its directory; false: it has none in memory. */
static bool name_in(struct inode *dir, const struct inode *inode, struct dir_entry *e)
{
	struct dentry *d;

	list_for_each_entry(d, &dir->entries, node)
		if (d->inode == inode) {
			e->len = d->len;
			memcpy(e->name, d->name, d->len);
			return true;
		}
	if (dir->state & INODE_STORED || !dir->ops->iterate)
		return false;
	for (u64 cursor = 0; !dir->ops->iterate(dir, cursor, e); cursor = e->next)
		if (e->ino == inode->ino)
			return true;
	return false;
}

/* That name goes to the end of buf, before buf[*at]. */
static int prepend_name(struct inode *inode, char *buf, size_t *at)
{
	struct dir_entry e;

	if (!name_in(inode->parent, inode, &e))
		return -ENOENT;
	if (*at < e.len + 1)
		return -ERANGE;
	*at -= e.len + 1;
	buf[*at] = '/';
	memcpy(buf + *at + 1, e.name, e.len);
	return 0;
}

int vfs_path_of(struct inode *inode, char *buf, size_t n)
{
	size_t at = n;
	int err;

	if (n < 2)
		return -ERANGE;
	buf[--at] = '\0';
	for (; inode != vfs_root; inode = inode->parent) {
		while (inode->sb->root == inode && inode->sb->mounted_on)
			inode = inode->sb->mounted_on;
		if (!inode->parent)
			return -ENOENT;
		err = prepend_name(inode, buf, &at);
		if (err)
			return err;
	}
	if (!buf[at])
		buf[--at] = '/';
	memmove(buf, buf + at, n - at);
	return 0;
}

int vfs_getcwd(char *buf, size_t n)
{
	int err = vfs_path_of(working_directory(), buf, n);

	return err ? err : (int)strlen(buf) + 1;
}
