/* What the files of fs/ share among themselves. */
#ifndef FS_INTERNAL_H
#define FS_INTERNAL_H

#include "errno.h"
#include "fs/vfs.h"
#include "mm/slab.h"
#include "fs/path.h"

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

/* inode.c: an inode of sb with count 1 and a number of its own, all else zero; NULL: no memory. */
struct inode *inode_alloc(struct super_block *sb, u32 mode);
/* Frees the object itself. */
void inode_release(struct inode *inode);
/* A read by a program, when one is due: atime. */
void inode_accessed(struct inode *inode);

static inline void inode_note_read(struct inode *inode)
{
	if (unlikely(inode->state & INODE_READ_DUE))
		inode_accessed(inode);
}

/* icache.c */
/* The last reference to an inode of a device has gone. */
void inode_unused(struct inode *inode);
/* Nobody refers to it, and it is not in the list of unused ones: out of memory with it, and off the
 * device if it has no name. */
void inode_evict(struct inode *inode);
/* Takes up to n unused inodes out of memory; how many went. Never sleeps. */
u32 icache_shrink(u32 n);
u32 icache_nr_unused(void);
/* All unused ones of sb that are clean. */
void icache_drop_unused(struct super_block *sb);
/* Writes all dirty ones with their pages and waits; 0 or the first error. */
int icache_sync(struct super_block *sb);
/* Nobody uses sb: all but the root leave memory, dirty or not. How many pages and inodes were dirty. */
u32 icache_lose(struct super_block *sb);

/* dcache.c. Needs nr_managed_pages and kmalloc. */
void dcache_init(void);
/* The entry of a directory, or NULL; its inode may be NULL: there is no such name. */
struct dentry *dentry_find(const struct inode *dir, const struct path_name *name);
/* An entry in no directory yet; kfree takes it back. NULL: no memory. */
struct dentry *dentry_new(const struct path_name *name);
/* Puts it in a directory where the name is not known. inode: gets a reference; NULL: a negative
 * one. Never sleeps. */
void dentry_link(struct inode *dir, struct dentry *d, struct inode *inode);
/* Takes it out and frees it. */
void dentry_remove(struct dentry *d);
/* Does a name of the directory that is in memory lead somewhere? */
bool dentry_any(const struct inode *dir);
void dentry_drop_all(struct inode *dir);
/* Looks at n names on devices, takes those that are not in use; how many went. Never sleeps. */
u32 dcache_shrink(u32 n);
u32 dcache_nr_cached(void);
/* All of sb that are not in use. */
void dcache_drop(struct super_block *sb);

/* super.c: an empty super block of that type. */
void super_init(struct super_block *sb, const struct fs_type *type);
/* Writes all that is dirty and waits: 0 or the first error. */
int super_sync(struct super_block *sb);
/* Only the metadata that write_inode and sync have put into blocks. */
int super_flush(struct super_block *sb);
/* Does anybody use it? The caller holds one reference to the root. May sleep, but not between the
 * last look and the answer. */
bool super_in_use(struct super_block *sb);
/* Is a file of it open for writing, or changed just now, or without a name, so that it is freed when it is closed? */
bool super_has_writers(const struct super_block *sb);
/* Is it the program of a process? Then it is neither written to nor cut. */
bool inode_runs(const struct inode *inode);
/* Metadata are written, or lost, and the device is free. */
void super_release_device(struct super_block *sb);
/* It is not mounted, and nobody uses it. */
void super_free(struct super_block *sb);

/* mount.c: the first file systems: the root, /dev and /proc's place. */
void mount_init(void);
/* Mounts sb, whose root is set, on a directory, whose reference is taken over. Never sleeps. */
void mount_attach(struct super_block *sb, struct inode *dir);
/* Mounts sb, whose root is set, on a directory of the first root, which is made; panics. */
void mount_at_boot(struct super_block *sb, const char *name);
void mounts_show(struct seq_file *m);
void filesystems_show(struct seq_file *m);
extern struct super_block root_sb, dev_sb, proc_sb, pipe_sb;

/* ramfs.c: a new inode of any kind, count 1, without a name; NULL: no memory. */
struct inode *ramfs_inode(struct super_block *sb, u32 mode, u32 rdev);
/* A symlink to the text target. */
struct inode *ramfs_symlink(struct super_block *sb, const char *target, size_t len);
/* Appends data of the boot archive to a regular file; 0 or -errno. */
int ramfs_append(struct inode *inode, const void *from, size_t n);
/* inode_operations.truncate, and what statfs says of room in memory. */
int ramfs_truncate(struct inode *inode, u64 size);
void ramfs_room(struct kstatfs *st);
/* ramfs_dir.c */
extern const struct inode_operations ramfs_ops;
extern const struct super_operations ramfs_super_ops;
int ramfs_mount(struct super_block *sb, const char *options);
/* tmpfs.c */
extern const struct fs_type tmpfs_type;
void shm_fs_init(void);
/* ext2/super.c */
extern const struct fs_type ext2_type;
extern const struct file_operations dir_fops, fifo_fops;
/* Makes /dev and its nodes; panics without memory. */
void dev_init(void);

/*
 * namei.c: where a path ends. dir has a reference. last.len 0: the path names dir itself; "." and
 * ".." are reported as such.
 */
struct walk {
	struct inode *dir;
	struct path_name last; /* points into the path, or into made */
	bool slash; /* a slash follows it: it must be a directory */
	u32 links; /* symlinks followed so far */
	char *made; /* the path as the last of them made it, or NULL */
};

/* The directory that path's last component is, or would be, in; 0 or -errno. */
int walk_parent(const char *path, struct walk *w);

static inline void walk_end(struct walk *w)
{
	inode_put(w->dir);
	if (unlikely(w->made != NULL))
		kfree(w->made);
}

int walk_parent_at(const struct path_at *at, struct walk *w);
/* The inode of that component, with a reference; 0 or -errno. */
int walk_last(struct walk *w, bool follow, struct inode **inode);
/* May the name be made there? 0, or -EEXIST (. and .. and /), -ENAMETOOLONG, -EROFS, -EPERM (only
 * the kernel makes names there), -ENOENT (a removed directory). */
int walk_may_create(const struct walk *w);

/* dir.c: a new file under the name that the walk ended in. mode: of all kinds; rdev, target: as
 * inode_operations.create has them; inode: gets a reference, NULL: not wanted. 0, -EEXIST, or as
 * above, or what the file system says. */
int walk_create(struct walk *w, u32 mode, u32 rdev, const char *target, struct inode **inode);
/* The same name for an inode that exists. */
int walk_link(struct walk *w, struct inode *inode);

/* open.c: first of all. */
void file_init(void);
/* An open file of inode, which takes a reference of its own; 0 or -errno. */
int file_create(struct inode *inode, u32 flags, struct file **file);

#endif
