/* Shared by the files of fs/. */
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

/* inode.c: returns an inode of sb with count 1 and its own number, all else zero, or NULL if out of
 * memory. */
struct inode *inode_alloc(struct super_block *sb, u32 mode);
/* Frees only the object. */
void inode_release(struct inode *inode);
/* Initialises an empty super block of that type. */
void super_init(struct super_block *sb, const struct fs_type *type);
/* icache.c */
/* Call when the last reference to an inode of a device has been dropped. */
void inode_unused(struct inode *inode);
/* Evicts an inode that has no references and is not in the list of unused inodes; frees it on the
 * device if it has no name. */
void inode_evict(struct inode *inode);
/* Evicts up to n unused inodes. Returns the number evicted. Never sleeps. */
u32 icache_shrink(u32 n);
u32 icache_nr_unused(void);
/* Evicts all unused clean inodes of sb. */
void icache_drop_unused(struct super_block *sb);
/* Writes all dirty inodes with their pages and waits. Returns 0 or the first error. */
int icache_sync(struct super_block *sb);
/* Evicts all inodes of an unused sb but the root, even dirty ones. Returns the number of dirty
 * pages and inodes lost. */
u32 icache_lose(struct super_block *sb);

/* dcache.c. Needs nr_managed_pages and kmalloc. */
void dcache_init(void);
/* Returns the entry of a directory or NULL. Its inode is NULL if the name does not exist. */
struct dentry *dentry_find(const struct inode *dir, const struct path_name *name);
/* Returns an entry that is in no directory yet, to be freed by kfree, or NULL if out of memory. */
struct dentry *dentry_new(const struct path_name *name);
/* Adds d to a directory that has no entry of that name. inode: gets a reference; NULL: a negative
 * entry. Never sleeps. */
void dentry_link(struct inode *dir, struct dentry *d, struct inode *inode);
/* Removes an entry and frees it. */
void dentry_remove(struct dentry *d);
void dentry_drop_all(struct inode *dir);
/* The cached names of devices, oldest first, linked by struct dentry.lru, and their number. */
extern struct list_head dentries_cached;
extern u32 nr_dentries_cached;

/* dcache_drop.c. Scans n cached names of devices and evicts unused ones. Returns the number evicted. Never
 * sleeps. */
u32 dcache_shrink(u32 n);
u32 dcache_nr_cached(void);
/* Evicts all unused names of sb. */
void dcache_drop(struct super_block *sb);

/* super.c */
/* Writes all dirty data and waits. Returns 0 or the first error. */
int super_sync(struct super_block *sb);
/* Is sb in use? The caller holds one reference to the root. May sleep, but not between the last
 * check and the return. */
bool super_in_use(struct super_block *sb);
/* Is a file of sb open for writing, being changed, or unlinked but open (freed at close)? */
bool super_has_writers(const struct super_block *sb);
/* Is it the program of a process? Then it must not be written or truncated. */
bool inode_runs(const struct inode *inode);
/* Releases the device, when the metadata are written or given up. */
void super_release_device(struct super_block *sb);
/* Frees sb, which is unmounted and unused. */
void super_free(struct super_block *sb);

extern struct list_head mounts; /* of struct super_block.node, oldest first */
/* mount_tree.c: mounts the first file system, the root. */
void mount_init(void);
/* Mounts sb, whose root is set, on a directory, and takes over the caller's reference to it. Never
 * sleeps. */
void mount_attach(struct super_block *sb, struct inode *dir);
/* Mounts sb, whose root is set, on a new directory of the first root. Panics on failure. */
void mount_at_boot(struct super_block *sb, const char *name);
void mounts_show(struct seq_file *m);
void filesystems_show(struct seq_file *m);
extern struct super_block root_sb, dev_sb, proc_sb, pipe_sb;

/* ramfs.c: returns a new inode of any kind, count 1, without a name, or NULL if out of memory. */
struct inode *ramfs_inode(struct super_block *sb, u32 mode, u32 rdev);
/* Returns a symlink to the text target, or NULL. */
struct inode *ramfs_symlink(struct super_block *sb, const char *target, size_t len);
/* Appends data of the boot archive to a regular file. Returns 0 or -errno. */
int ramfs_append(struct inode *inode, const void *from, size_t n);
/* inode_operations.truncate; the room in memory for statfs. */
int ramfs_truncate(struct inode *inode, u64 size);
void ramfs_room(struct kstatfs *st);
/* ramfs_dir.c */
extern const struct inode_operations ramfs_ops;
extern const struct super_operations ramfs_super_ops;
int ramfs_mount(struct super_block *sb, const char *options);
/* tmpfs.c */
extern const struct file_operations dir_fops;
/* dev.c: sets what inode_set_special gives to files of a kind, S_IFIFO or S_IFBLK. */
void special_register(u32 kind, const struct file_operations *fops);
/* Creates /dev and its nodes. Panics if out of memory. */
void dev_init(void);

/*
 * namei.c: where a path ends. dir has a reference. last.len 0: the path names dir itself. "." and
 * ".." are left in last.
 */
struct walk {
	struct inode *dir;
	struct path_name last; /* points into the path, or into made */
	bool slash; /* a slash follows: it must be a directory */
	u32 links; /* symlinks followed so far */
	char *made; /* the path after following symlinks, or NULL */
};

/* Finds the directory that contains, or would contain, path's last component. Returns 0 or
 * -errno. */
int walk_parent(const char *path, struct walk *w);

static inline void walk_end(struct walk *w)
{
	inode_put(w->dir);
	if (unlikely(w->made != NULL))
		kfree(w->made);
}

/* Returns current's working directory, or the root if it has none; no reference is taken. */
struct inode *working_directory(void);
struct inode *root_directory(void);
/* Like walk_parent, from the directory base. */
int walk_from(struct inode *base, const char *path, struct walk *w);

static inline int walk_parent_at(const struct path_at *at, struct walk *w)
{
	return walk_from(at->base ? at->base : working_directory(), at->name, w);
}

/* Stores the inode of the last component, with a reference. Returns 0 or -errno. */
int walk_last(struct walk *w, bool follow, struct inode **inode);
/* Copies a link's text. Returns 0, or -errno (-ENAMETOOLONG if longer than size). */
int inode_read_link(struct inode *link, char *buf, size_t size);
/* May the name be created there? Returns 0, -EEXIST (. and .. and /), -ENAMETOOLONG, -EROFS, -EPERM
 * (only the kernel creates names there), or -ENOENT (a removed directory). */
int walk_may_create(const struct walk *w);

/* create.c: the name now refers to nothing or to another inode. d: its former dentry; on a device it
 * may have been evicted since. The directory is locked. */
void name_forget(struct inode *dir, const struct path_name *name, struct dentry *d);
/* Makes the free name refer to inode in the dcache. Never sleeps. The directory is locked. */
void name_set(struct inode *dir, struct dentry *new, struct inode *inode);
/* Creates a file under the last name of the walk. mode: of any kind. rdev, target: see
 * inode_operations.create. inode: gets a reference, may be NULL. Returns 0, -EEXIST, an error as
 * above, or one of the file system. */
int walk_create(struct walk *w, u32 mode, u32 rdev, const char *target, struct inode **inode);
/* Links the last name of the walk to an existing inode. */
int walk_link(struct walk *w, struct inode *inode);

/* fsize.c: may current write *n bytes at pos, or with n NULL one byte? Cuts *n so that they fit into its
 * RLIMIT_FSIZE. Returns 0, or -EFBIG after sending SIGXFSZ. */
int fsize_check(const struct inode *inode, u64 pos, size_t *n);

/* read_write.c: vfs_read and vfs_write, but from and to *pos, also in files without positions. */
long file_read_from(struct file *f, void *user, size_t n, u64 *pos);
long file_write_to(struct file *f, const void *user, size_t n, u64 *pos);

/* open.c: call first. */
void file_init(void);
/* Creates an open file of inode, with its own reference to inode. Returns 0 or -errno. */
int file_create(struct inode *inode, u32 flags, struct file **file);

#endif
