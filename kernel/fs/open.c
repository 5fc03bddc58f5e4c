/*
 * Opening: from a path and flags to an open file. With O_PATH it is only a place, a symbolic link
 * too, that other calls begin at or ask about: no operation of the file is ever called.
 */
#include "internal.h"

#include "mm/slab.h"

static struct kmem_cache *file_cache(void)
{
	static struct kmem_cache *cache;

	if (!cache)
		cache = kmem_cache_create("file", sizeof(struct file), 0, NULL);
	return cache;
}

static const struct file_operations no_fops;

/* Is it one of the files that keep a file system from becoming read-only? */
static bool writes(const struct inode *inode, u32 flags)
{
	return (flags & (O_ACCMODE | O_PATH)) - 1 < 2 && inode_is_reg(inode);
}

int file_create(struct inode *inode, u32 flags, struct file **file)
{
	struct file *f = kmem_cache_alloc(file_cache(), GFP_KERNEL | GFP_NORETRY);
	int err = 0;

	if (!f)
		return -ENFILE;
	*f = (struct file){ .inode = inode, .fops = inode->fops, .count = 1, .flags = flags };
	if (flags & O_PATH)
		f->fops = &no_fops;
	if (f->fops->open)
		err = f->fops->open(f);
	if (err) {
		kmem_cache_free(file_cache(), f);
		return err;
	}
	inode_get(inode);
	if (writes(inode, flags))
		inode->sb->nr_writers++;
	*file = f;
	return 0;
}

void file_free(struct file *f)
{
	if (f->fops->release)
		f->fops->release(f);
	if (writes(f->inode, f->flags))
		f->inode->sb->nr_writers--;
	inode_put(f->inode);
	kmem_cache_free(file_cache(), f);
}

/* May this inode be opened like that? */
static int check_open(const struct inode *inode, u32 flags)
{
	if (flags & O_PATH)
		return flags & O_DIRECTORY && !inode_is_dir(inode) ? -ENOTDIR : 0;
	if (inode_is_link(inode))
		return -ELOOP;
	if (inode_is_dir(inode) && ((flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT))
		return -EISDIR;
	if (!inode_is_dir(inode) && flags & O_DIRECTORY)
		return -ENOTDIR;
	if (flags & (O_ACCMODE | O_TRUNC) && inode->sb->read_only && inode_is_reg(inode))
		return -EROFS;
	return inode->fops ? 0 : -ENXIO;
}

static int create_file(struct walk *w, u32 mode, struct inode **inode)
{
	if (w->slash)
		return -EISDIR;
	return walk_create(w, S_IFREG | (mode & 07777), 0, NULL, inode);
}

/* The name is there and leads nowhere: a symlink to nothing, or ".." of a removed directory. */
static bool leads_nowhere(const struct walk *w)
{
	const struct dentry *d = dentry_find(w->dir, &w->last);

	return path_is_dotdot(&w->last) || (d && d->inode);
}

/* The inode to open, made if it must be; -EEXIST may mean that another task was quicker. */
static int find_or_create(const char *path, u32 flags, u32 mode, struct inode **inode)
{
	bool exclusive = flags & O_CREAT && flags & O_EXCL;
	struct walk w;
	int err = walk_parent(path, &w);

	if (err)
		return err;
	err = walk_last(&w, !(flags & O_NOFOLLOW) && !exclusive, inode);
	if (!err && exclusive) {
		inode_put(*inode);
		err = -EEXIST;
	} else if (err == -ENOENT && flags & O_CREAT && !leads_nowhere(&w)) {
		err = create_file(&w, mode, inode);
	}
	inode_put(w.dir);
	return err;
}

int vfs_open(const char *path, u32 flags, u32 mode, struct file **file)
{
	struct inode *inode;
	int err;

	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	do
		err = find_or_create(path, flags, mode, &inode);
	while (err == -EEXIST && !(flags & O_EXCL));
	if (err)
		return err;
	err = check_open(inode, flags);
	if (!err && flags & O_TRUNC && inode_is_reg(inode) && inode->size)
		err = vfs_truncate(inode, 0);
	if (!err)
		err = file_create(inode, flags, file);
	inode_put(inode);
	return err;
}
