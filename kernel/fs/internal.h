/* What the files of fs/ share among themselves. */
#ifndef FS_INTERNAL_H
#define FS_INTERNAL_H

#include "errno.h"
#include "fs/vfs.h"
#include "path.h"

extern struct inode *vfs_root;

static inline bool inode_is_dir(const struct inode *inode)
{
	return (inode->mode & S_IFMT) == S_IFDIR;
}

static inline bool inode_is_link(const struct inode *inode)
{
	return (inode->mode & S_IFMT) == S_IFLNK;
}

static inline bool inode_is_reg(const struct inode *inode)
{
	return (inode->mode & S_IFMT) == S_IFREG;
}

/* inode.c: an inode with count 1 and a number of its own, all else zero; NULL: no memory. */
struct inode *inode_alloc(u32 mode);

/* The entry of a directory, or NULL. */
struct dentry *dentry_find(struct inode *dir, const struct path_name *name);
/* An entry in no directory yet, with a reference to inode; NULL: no memory. */
struct dentry *dentry_new(const struct path_name *name, struct inode *inode);
void dentry_free(struct dentry *d);
/* Puts it in a directory, where the name must be free. Never sleeps. */
void dentry_link(struct inode *dir, struct dentry *d);
/* Takes it out and frees it. */
void dentry_remove(struct inode *dir, struct dentry *d);

/* ramfs.c and dev.c: a new inode of any kind, count 1, without a name; NULL: no memory. */
struct inode *ramfs_inode(u32 mode, u32 rdev);
/* A symlink to the text target. */
struct inode *ramfs_symlink(const char *target, size_t len);
/* Appends data of the boot archive to a regular file; 0 or -errno. */
int ramfs_append(struct inode *inode, const void *from, size_t n);
/* The operations of a character device (major << 8 | minor), NULL: no such device. */
const struct file_operations *chrdev_fops(u32 rdev);
/* Makes /dev and its nodes; panics without memory. */
void dev_init(void);

/*
 * namei.c: where a path ends. dir has a reference. last.len 0: the path names dir itself; "." and
 * ".." are reported as such.
 */
struct walk {
	struct inode *dir;
	struct path_name last; /* points into the path */
	bool slash;            /* a slash follows it: it must be a directory */
	u32 links;             /* symlinks followed so far */
};

/* The directory that path's last component is, or would be, in; 0 or -errno. */
int walk_parent(const char *path, struct walk *w);
/* The inode of that component, with a reference; 0 or -errno. */
int walk_last(struct walk *w, bool follow, struct inode **inode);
/* May the name be made there? 0, or -EEXIST (. and .. and /), -ENAMETOOLONG, -EPERM (a sealed
 * directory), -ENOENT (a removed one). */
int walk_may_create(const struct walk *w);

/* dir.c: gives inode the name that the walk found free. 0, -EEXIST, -ENOSPC, or as above. */
int walk_create(struct walk *w, struct inode *inode);

/* open.c: an open file of inode, which takes a reference of its own; 0 or -errno. */
int file_create(struct inode *inode, u32 flags, struct file **file);

#endif
