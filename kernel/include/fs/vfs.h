/*
 * Files: inodes (what a file is), open files (its readers and writers), names, and the file systems
 * they belong to. A file system on a device supplies inode_operations and super_operations. Its
 * inodes and names stay cached until memory is short (fs/icache.c, fs/dcache.c). ramfs and proc
 * exist only in memory.
 */
#ifndef FS_VFS_H
#define FS_VFS_H

#include "arch/time.h"
#include "errno.h"
#include "fs/path.h"
#include "lib/list.h"
#include "mm/cache.h"
#include "sched/wait.h"
#include "types.h"

struct block_device;
struct file;
struct file_lock;
struct inode;
struct page;
struct pipe;
struct seq_file;
struct super_block;

#define S_IFMT 0170000
#define S_IFIFO 0010000
#define S_IFCHR 0020000
#define S_IFDIR 0040000
#define S_IFBLK 0060000
#define S_IFREG 0100000
#define S_IFLNK 0120000
#define S_IFSOCK 0140000
#define S_ISUID 04000u
#define S_ISGID 02000u

#define O_ACCMODE 3
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_EXCL 0200
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_NONBLOCK 04000
#define O_DSYNC 010000  /* a write returns once its data are on the medium */
#define O_DIRECT 040000 /* bypasses the page cache (mm/cache/direct.c) */
#define O_DIRECTORY 0200000
#define O_NOFOLLOW 0400000
#define O_NOATIME 01000000
#define O_CLOEXEC 02000000
#define O_SYNC 04010000 /* O_DSYNC, and for the metadata, too */
#define O_PATH 010000000 /* only a place in the tree: it cannot be read or written */

#define PATH_MAX 4096
#define NAME_MAX 255

/* What poll(2) reports. */
#define POLLIN 0x001u
#define POLLPRI 0x002u
#define POLLOUT 0x004u
#define POLLERR 0x008u
#define POLLHUP 0x010u
#define POLLNVAL 0x020u

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

struct file_operations {
	/* Returns bytes moved (0: end of file) or -errno. User buffer; advances *pos. Sleeps. */
	long (*read)(struct file *f, void *user, size_t n, u64 *pos);
	long (*write)(struct file *f, const void *user, size_t n, u64 *pos);
	/* NULL: -ENOTTY. */
	long (*ioctl)(struct file *f, u32 cmd, u32 arg);
	/* Returns the bits of poll(2) that hold now. NULL: always readable and writable. */
	u32 (*poll)(struct file *f);
	int (*open)(struct file *f);     /* 0 or -errno; NULL: nothing to do; may set f->fops */
	int (*sync)(struct file *f);     /* fsync of a device; NULL: -EINVAL */
	void (*release)(struct file *f); /* last close */
};

/* Operations on names and nodes. All may sleep. Return 0 or -errno. The caller has checked dir and
 * the name (length, not . or ..), holds the directory's lock (both for a rename), and updates times
 * and cached names. The file system updates nlink. NULL: not supported (-EPERM). */
struct dir_entry {
	u64 next;      /* cursor of the following entry */
	u32 ino, mode; /* mode: the S_IFMT part */
	u32 len;
	char name[NAME_MAX + 1]; /* NUL-terminated */
};

struct inode_operations {
	/* Called by a path walk for a name that is not cached. Returns -ENOENT, or 0 and a
	 * reference in *inode. NULL: all names are in memory. */
	int (*lookup)(struct inode *dir, const struct path_name *name, struct inode **inode);
	/* Creates a file of any kind and stores a reference in *inode. mode includes S_IFMT. rdev:
	 * for device nodes. target: for symlinks. */
	int (*create)(struct inode *dir, const struct path_name *name, u32 mode, u32 rdev,
		      const char *target, struct inode **inode);
	int (*link)(struct inode *dir, const struct path_name *name, struct inode *inode);
	/* Also removes directories (-ENOTEMPTY). */
	int (*unlink)(struct inode *dir, const struct path_name *name, struct inode *inode);
	/* replaced: the inode that has the new name now and loses it, or NULL. */
	int (*rename)(struct inode *from, const struct path_name *old, struct inode *to,
		      const struct path_name *new, struct inode *inode, struct inode *replaced);
	/* Stores the first entry at or after cursor, without . and .. Returns -ENOENT at the end. */
	int (*iterate)(struct inode *dir, u64 cursor, struct dir_entry *e);
	/* Stores a symlink's target as a string. NULL: inode->private is the text. */
	int (*readlink)(struct inode *link, char *buf, size_t size);
	/* Replaces a symlink that leads to an inode, not to a path, by that inode. Moves the reference.
	 * Returns 0 or -errno. NULL: the walk follows the text. */
	int (*jump)(struct inode **link);
	/* Frees the blocks beyond size; the pages there are already gone. inode->size is already
	 * the new size if the file shrinks. If it grows, the caller sets inode->size afterwards.
	 * Caller holds inode->lock. */
	int (*truncate)(struct inode *inode, u64 size);
};

enum inode_state {
	INODE_STORED = 1, /* on a device's file system: cached by its number */
	INODE_NEW = 2, /* being read: other tasks wait */
	INODE_BAD = 4, /* could not be read */
	INODE_DIRTY = 8, /* write_inode is due */
	INODE_READ_DUE = 16, /* the next read counts as an access (relatime) */
	INODE_GOING = 32, /* being evicted: must not be used any more */
	INODE_SWAP = 64, /* holds a swap area or a log: neither written nor truncated (-ETXTBSY) */
};

struct inode {
	/* set by inode_alloc: */
	u32 ino, mode;
	u32 count; /* references: cached names, open files, regions, cwd, mounts */
	u32 state; /* enum inode_state */
	struct super_block *sb;
	const struct inode_operations *ops;
	u64 accessed, modified; /* clock_stamp(), if newer than atime_ns, mtime_ns; else 0 */
	u64 atime_ns, mtime_ns, ctime_ns; /* since 1970; stale while a stamp is set */

	/* initially zero, up to the lock: */
	u64 changed; /* clock_stamp(), like modified */
	u32 nlink, rdev; /* rdev: major << 8 | minor */
	u32 uid, gid;
	u64 size;
	u64 blocks; /* STORED: units of 512 bytes, maintained by the file system */
	u32 block_bits; /* STORED: the block size is 1 << block_bits bytes */
	const struct file_operations *fops; /* NULL: cannot be opened (-ENXIO) */
	struct inode *parent; /* the directory of its name, uncounted; NULL: it has no name */
	struct inode *mounted; /* directory: the root of the file system mounted here, or NULL */
	u32 nr_writers; /* open files and regions that may write; blocks execution */
	u32 nr_names; /* dentries that point here */
	struct file_lock *locks; /* held by programs */
	struct pipe *pipe; /* FIFO: while it is open */
	struct page_cache cache; /* of a regular file or a block device */
	/* Frees what private points to, when the last reference is dropped. NULL: nothing to free. */
	void (*evict)(struct inode *inode);
	/* the file system's; for a symlink without readlink: its target */
	void *private;
	u32 private_id;

	struct mutex lock; /* directories: protects names; files: protects size and blocks */
	struct list_head entries; /* directory: of struct dentry, by cookie */
	struct list_head on_sb; /* in sb->inodes */
	struct list_head dirty; /* in sb->dirty, with INODE_DIRTY */
	struct list_head lru; /* STORED with count 0: unused inodes, oldest first */
	struct inode *hash_next;
};

struct dentry {
	struct list_head node; /* in the directory's entries */
	struct list_head lru; /* STORED: in the list of all dentries, oldest first */
	struct dentry *hash_next;
	struct inode *dir; /* not counted: it stays while its names are cached */
	struct inode *inode; /* counted; NULL: the name does not exist (negative entry) */
	u32 cookie; /* position in the directory; never reused */
	u32 hash, len;
	bool used; /* since the shrinker last looked at it */
	char name[]; /* NUL-terminated */
};

struct kstatfs {
	u32 magic, block_size;
	u64 blocks, blocks_free, blocks_available; /* of block_size */
	u64 files, files_free;
};

struct super_operations {
	/* Writes the inode into its metadata block, now dirty. Returns 0 or -errno. May sleep. */
	int (*write_inode)(struct inode *inode);
	/* Evicts an inode whose pages are gone. nlink 0: frees its blocks and the inode on the
	 * device, and may sleep. Else it only frees memory and must not sleep: reclaim calls it. */
	void (*evict_inode)(struct inode *inode);
	/* Writes the superblock and other metadata into dirty buffers. Returns 0 or -errno. */
	int (*sync)(struct super_block *sb);
	/* Writes all dirty buffers to the medium. Needed by a file system on a device. Returns 0 or -errno. */
	int (*flush)(struct super_block *sb);
	int (*statfs)(struct super_block *sb, struct kstatfs *st);
	/* Called after the last inode is gone: writes and flushes all, marks the file system clean,
	 * frees private. */
	void (*put_super)(struct super_block *sb);
	/* Called before it becomes read-only or writable. NULL: always possible. Returns 0 or -errno. */
	int (*remount)(struct super_block *sb, bool read_only);
};

struct fs_type;

struct super_block {
	const struct fs_type *type;
	const struct super_operations *ops;
	const struct log_operations *log; /* fs/gate.h; NULL: none */
	struct block_device *bdev; /* NULL: in memory */
	char source[32]; /* as given to mount */
	const char *shown; /* of its options, what /proc/mounts shows; NULL: nothing */
	u32 dev, block_size, block_bits;
	u32 nth; /* of all mounts of devices since boot, from 0 */
	u64 max_size; /* of a file, bytes */
	bool read_only;
	bool freeing; /* freeing is under way and must not fail: waits longer for memory */
	bool closing; /* about to become read-only: no new changes may begin */
	u32 nr_writers; /* writers of its files, and changes of names and sizes under way */
	bool unnamed; /* its files have no path; private: their text in /proc/PID/maps */
	bool swaps; /* its files are shared memory: evicted to the swap area (mm/cache/shmem.c) */
	u32 nr_pages, max_pages; /* of shared memory, in memory or swap; 0: no limit */
	struct inode *root; /* with a reference */
	struct inode *mounted_on; /* counted; NULL: the first root, or not mounted */
	struct list_head inodes, dirty; /* of struct inode */
	struct list_head node; /* in the list of mounts, oldest first; empty: not mounted */
	void *private;
};

struct file {
	struct inode *inode;
	const struct file_operations *fops;
	u32 count, flags; /* flags: O_... */
	u64 pos;
	struct readahead ahead;
	u32 errors_told; /* cache.errors when fsync last reported it */
	void *private;
};

/* May the file be read, or written? With O_WRONLY | O_RDWR neither, as on Linux. */
static inline bool file_may_read(const struct file *f)
{
	return !(f->flags & O_WRONLY);
}

static inline bool file_may_write(const struct file *f)
{
	return (f->flags + 1) & O_RDWR;
}

/* What stat(2) returns, before conversion to the ABI's layout. */
struct kstat {
	u32 dev, ino, mode, nlink, rdev; /* dev, rdev: major << 8 | minor */
	u32 blksize; /* bytes */
	u64 size, blocks; /* bytes; units of 512 bytes that are allocated */
	u32 uid, gid;
	u64 atime_ns, mtime_ns, ctime_ns; /* since 1970 */
};

/* Sets up the root and the caches. Needs kmalloc. */
void vfs_init(void);
/* Unpacks the newc archive at [start, end) into ramfs. Panics with the reason if it is invalid.
 * Everything is copied, so the archive's memory may be freed afterwards. */
void initramfs_unpack(const void *start, const void *end);

/* A path that starts at base. NULL: at the working directory. */
struct path_at {
	struct inode *base;
	const char *name;
};

#define RENAME_NOREPLACE 1u

/*
 * Names. Paths are kernel strings, relative to current's working directory unless they begin with a
 * slash. All may sleep. All return 0 or -errno unless stated otherwise.
 */
/* Stores the inode of a path, with a reference; leaves *inode unchanged on failure. follow: a final
 * symlink is followed. */
int vfs_lookup(const char *path, bool follow, struct inode **inode);
/* Opens a file and stores it, with count 1, in *file. mode: for a new file, umask already applied. */
int vfs_open(const char *path, u32 flags, u32 mode, struct file **file);
int vfs_unlink(const char *path);
int vfs_mkdir(const char *path, u32 mode);
int vfs_rmdir(const char *path);
/* symlink: target is its text. mknod: mode and rdev of the node. */
int vfs_symlink(const char *target, const char *path);
int vfs_mknod(const char *path, u32 mode, u32 rdev);
int vfs_link(const struct path_at *from, const struct path_at *to, bool follow);
/* flags: RENAME_NOREPLACE. */
int vfs_rename(const struct path_at *from, const struct path_at *to, u32 flags);
int vfs_chdir(const char *path);
int vfs_chroot(const char *path); /* the working directory stays */
/* Returns the length with the NUL, -ERANGE if it does not fit, or -ENOENT if the directory was removed. */
int vfs_getcwd(char *buf, size_t n);
/* Returns the length without a NUL, cut to n, or -EINVAL if path is not a symlink. */
int vfs_readlink(const char *path, char *buf, size_t n);
/* Stores the path of an inode. Returns 0, -ENOENT if it has no name any more, or -ERANGE. Never sleeps. */
int vfs_path_of(struct inode *inode, char *buf, size_t n);

#define MS_RDONLY 1u
#define MS_REMOUNT 32u
/* Also nosuid, nodev, noexec, noatime, nodiratime, silent, relatime: accepted without effect. */
#define MS_KNOWN (MS_RDONLY | MS_REMOUNT | 2u | 4u | 8u | 1024u | 2048u | 32768u | 1u << 21)

/* source: a device's name or path if the type needs a device, otherwise any text. options: specific
 * to the type, or NULL. */
int vfs_mount(const char *source, const char *path, const char *type, u32 flags,
	      const char *options);
/* Returns 0, -EBUSY if the file system is in use, or -EINVAL if nothing is mounted there. */
int vfs_umount(const char *path, bool follow);
/* Writes back everything dirty and waits. Returns 0 or the first error. */
int vfs_sync(void);
/* Like vfs_sync, but only for the file system of inode. */
int vfs_syncfs(struct inode *inode);
int vfs_statfs(struct inode *inode, struct kstatfs *st);
/* Writes back an open file and its metadata, and waits. */
int vfs_fsync(struct file *f);
/* Evicts all unused clean names and inodes. */
void vfs_drop_caches(void);
/* Evicts the clean, unused pages of files. Never sleeps. */
void vfs_drop_pages(void);

/* Open files: return the bytes moved or -errno. Position: f->pos, or *pos; it is advanced (-ESPIPE:
 * pipes and terminals). May sleep. */
long vfs_read(struct file *f, void *user, size_t n);
long vfs_write(struct file *f, const void *user, size_t n);
long vfs_read_at(struct file *f, void *user, size_t n, u64 *pos);
long vfs_write_at(struct file *f, const void *user, size_t n, u64 *pos);
/* Stores the new position in *pos. Returns 0, -ESPIPE for pipes and terminals, or -EINVAL if before
 * the start. */
int vfs_seek(struct file *f, long long offset, int whence, u64 *pos);
long vfs_ioctl(struct file *f, u32 cmd, u32 arg);
/* Linux's struct linux_dirent64. Returns the bytes written, 0 at the end, or -EINVAL if not one entry fits. */
long vfs_getdents64(struct file *f, void *user, size_t n);
/* Returns the bits of poll(2) that hold now: POLLIN and so on. */
u32 file_poll(struct file *f);
/* Returns true if the file is on a disk and may be read and written past the cache (O_DIRECT). */
bool file_may_be_direct(const struct inode *inode);
/* Woken whenever the poll bits of any file may have changed; its waiters then check all their files
 * again. An implementation of poll calls file_poll_changed() for this, from any context. */
extern struct wait_queue poll_wait;

static inline void file_poll_changed(void)
{
	if (!list_empty(&poll_wait.waiters))
		wake_up(&poll_wait);
}

/*
 * Inodes of file systems on devices.
 *
 * inode_get_cached: returns the inode of that number, with a reference. *is_new: it was not cached
 * and has ino, sb, count 1, an empty cache and all else zero. Other tasks that ask for it wait
 * until the file system has filled it and calls inode_ready, or inode_bad if it cannot be read
 * (this drops the reference). Returns NULL if out of memory. May sleep.
 */
struct inode *inode_get_cached(struct super_block *sb, u32 ino, bool *is_new);
void inode_ready(struct inode *inode);
void inode_bad(struct inode *inode);
/* Marks the inode dirty: write_inode is due. Never sleeps. */
void inode_mark_dirty(struct inode *inode);
/* Writes the dirty inode that has waited longest into its metadata block. Returns 0 or -errno. May sleep. */
int inode_write_first(struct super_block *sb);
/* Writes an inode and waits; data: writes its pages first. Returns 0 or the first error. */
int inode_sync(struct inode *inode, bool data);
/* Gives an inode of /dev's superblock a name there. Boot only. Panics if the name is taken. */
void dev_register(const char *name, struct inode *inode);
/* Sets the default operations of a FIFO, a device or a directory by mode and rdev; otherwise none. */
void inode_set_special(struct inode *inode);

/* Returns 0, or -EROFS if the file system must not be changed. */
static inline int super_may_change(const struct super_block *sb)
{
	return unlikely(sb->read_only || sb->closing) ? -EROFS : 0;
}

/* Begins a change that may sleep. super_end_change ends it. Returns 0 or -EROFS. */
static inline int super_begin_change(struct super_block *sb)
{
	int err = super_may_change(sb);

	sb->nr_writers += !err;
	return err;
}

static inline void super_end_change(struct super_block *sb)
{
	sb->nr_writers--;
}

/* Changes the number of writers by n. */
static inline void inode_count_writers(struct inode *inode, int n)
{
	inode->nr_writers += n;
	inode->sb->nr_writers += n;
}

/* Call when the inode's data or names have changed: stamps mtime and ctime, which become dates when
 * they are read. */
static inline void inode_touch(struct inode *inode)
{
	inode->modified = clock_stamp();
	inode->state |= INODE_READ_DUE;
	if (inode->state & INODE_STORED)
		inode_mark_dirty(inode);
}

/* Call when the inode's owner, mode or links have changed: stamps ctime. */
static inline void inode_changed(struct inode *inode)
{
	inode->changed = clock_stamp();
	inode->state |= INODE_READ_DUE;
	if (inode->state & INODE_STORED)
		inode_mark_dirty(inode);
}

/* Sets atime. Call when a program reads the file, and this access counts. */
void inode_accessed(struct inode *inode);

static inline void inode_note_read(struct inode *inode)
{
	if (unlikely(inode->state & INODE_READ_DUE))
		inode_accessed(inode);
}

/* Brings atime_ns, mtime_ns and ctime_ns up to date. The core calls this before write_inode. */
void inode_settle_times(struct inode *inode);

/* Inodes. */
void vfs_stat(struct inode *inode, struct kstat *st);
/* Return 0, -EROFS, -EPERM (/proc) or -EOPNOTSUPP (the mode of a symlink). KEEP_ID: unchanged. */
#define KEEP_ID 0xffffffffu
int vfs_chmod(struct inode *inode, u32 mode);
int vfs_chown(struct inode *inode, u32 uid, u32 gid);
#define TIME_NOW (~0ull)
#define TIME_KEEP (~1ull)
int vfs_utimes(struct inode *inode, u64 atime_ns, u64 mtime_ns);
/* Returns 0, -EISDIR, -EINVAL if not a regular file, or -EFBIG. */
int vfs_truncate(struct inode *inode, u64 size);
/* Makes room for the bytes [start, end) of a regular file. The file grows to `end`, but not with keep_size.
 * Returns 0, -EOPNOTSUPP if that room lies beyond the end, or an error as of a write. */
int vfs_fallocate(struct inode *inode, u64 start, u64 end, bool keep_size);
/* Reads from an inode into kernel memory (execve). Returns the bytes read or -errno. May sleep. */
long vfs_read_kernel(struct inode *inode, u64 pos, void *to, size_t n);
/* Stores page `index` of a regular file with a reference. Returns 0, -EINVAL beyond the end, or -ENOMEM. */
int vfs_get_page(struct inode *inode, u32 index, struct page **page);

/* Shared memory of size bytes without a name in the tree, with a reference; name is only for display. Returns
 * 0, -ENOMEM or -EFBIG. vfs_shmem_open returns an open file for reading and writing. */
int vfs_shmem_create(const char *name, u64 size, struct inode **inode);
int vfs_shmem_open(struct inode *inode, struct file **file);

void inode_free(struct inode *inode);
void file_free(struct file *f);

static inline void inode_get(struct inode *inode)
{
	inode->count++;
}

/* May sleep, like file_put: dropping the last reference frees the inode. */
static inline void inode_put(struct inode *inode)
{
	if (!--inode->count)
		inode_free(inode);
}

static inline void file_get(struct file *f)
{
	f->count++;
}

static inline void file_put(struct file *f)
{
	if (!--f->count)
		file_free(f);
}

#endif
