/*
 * From an inode to its path: the names of its directories, from the last to the first, are written
 * to the end of the buffer. A directory on a device that has no cached name is read.
 */
#include "internal.h"

#include "lib/string.h"

/* Finds a cached name of an inode in its directory. Returns false if there is none. */
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

/* Writes a slash and the inode's name in its directory into buf, before buf[*at]. */
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
	struct inode *root = root_directory();
	size_t at = n;
	int err;

	if (n < 2)
		return -ERANGE;
	buf[--at] = '\0';
	for (; inode != root; inode = inode->parent) {
		if (inode == vfs_root)
			return -ENOENT; /* outside of the root that chroot set */
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
