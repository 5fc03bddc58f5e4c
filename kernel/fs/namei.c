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

/* One step down (or up) from dir; no link is followed. A reference comes with *next. */
static int step(struct inode *dir, const struct path_name *name, struct inode **next)
{
	struct dentry *d;

	if (name->len > NAME_MAX)
		return -ENAMETOOLONG;
	if (path_is_dot(name))
		*next = dir;
	else if (path_is_dotdot(name))
		*next = dir->parent;
	else if ((d = dentry_find(dir, name)))
		*next = d->inode;
	else
		return dir->lookup ? dir->lookup(dir, name->s, name->len, next) : -ENOENT;
	if (!*next)
		return -ENOENT;
	inode_get(*next);
	return 0;
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
	if (link->readlink) {
		made = kmalloc(PATH_MAX, GFP_KERNEL);
		err = made ? link->readlink(link, made, PATH_MAX) : -ENOMEM;
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

int walk_may_create(const struct walk *w)
{
	if (!w->last.len || path_is_dot(&w->last) || path_is_dotdot(&w->last))
		return -EEXIST;
	if (w->last.len > NAME_MAX)
		return -ENAMETOOLONG;
	if (w->dir->sealed)
		return -EPERM;
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
	else if (link->readlink)
		err = link->readlink(link, text, PATH_MAX);
	else
		strlcpy(text, link->private, PATH_MAX);
	if (!err) {
		err = MIN(strlen(text), n);
		memcpy(buf, text, err);
	}
	kfree(text);
	inode_put(link);
	return err;
}

/* The name of an inode in its directory goes to the end of buf, before buf[*at]. */
static int prepend_name(struct inode *inode, char *buf, size_t *at)
{
	struct inode *dir = inode->parent;
	char name[NAME_MAX + 1] = "";
	u32 cursor = 0, ino = 0, mode;
	struct dentry *d;
	size_t len;

	list_for_each_entry(d, &dir->entries, node)
		if (d->inode == inode)
			strlcpy(name, d->name, sizeof(name));
	if (!*name && dir->iterate)
		while (ino != inode->ino)
			if (dir->iterate(dir, &cursor, name, &ino, &mode))
				return -ENOENT;
	len = strlen(name);
	if (!len)
		return -ENOENT;
	if (*at < len + 1)
		return -ERANGE;
	*at -= len + 1;
	buf[*at] = '/';
	memcpy(buf + *at + 1, name, len);
	return 0;
}

int vfs_path_of(struct inode *inode, char *buf, size_t n)
{
	size_t at = n;
	int err;

	if (n < 2)
		return -ERANGE;
	buf[--at] = '\0';
	if (inode == vfs_root)
		buf[--at] = '/';
	for (; inode != vfs_root; inode = inode->parent) {
		if (!inode->parent)
			return -ENOENT;
		err = prepend_name(inode, buf, &at);
		if (err)
			return err;
	}
	memmove(buf, buf + at, n - at);
	return 0;
}

int vfs_getcwd(char *buf, size_t n)
{
	int err = vfs_path_of(working_directory(), buf, n);

	return err ? err : (int)strlen(buf) + 1;
}
