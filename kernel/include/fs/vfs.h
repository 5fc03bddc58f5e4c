/*
 * Files: inodes (what a file is), open files (where somebody reads it), names, and the file systems
 * that they are of. A file system on a device says how it does its part in inode_operations and
 * super_operations; inodes and names of it stay in memory until memory is short (fs/icache.c,
 * fs/dcache.c). ramfs and proc live in memory alone.
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
#define O_DSYNC 010000  /* a write returns when its data are on the medium */
#define O_DIRECT 040000 /* past the page cache (mm/cache/direct.c) */
#define O_DIRECTORY 0200000
#define O_NOFOLLOW 0400000
#define O_NOATIME 01000000
#define O_CLOEXEC 02000000
#define O_SYNC 04010000 /* O_DSYNC, and what describes the file, too */
#define O_PATH 010000000 /* only a place in the tree: nothing is read or written */

#define PATH_MAX 4096
#define NAME_MAX 255
#define NR_OPEN 64 /* open files per process */

/* What poll(2) reports. */
#define POLLIN 0x001u
#define POLLOUT 0x004u
#define POLLERR 0x008u
#define POLLHUP 0x010u
#define POLLNVAL 0x020u

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

struct file_operations {
	/* Bytes moved (0: end of file) or -errno; user buffer; *pos is advanced. May sleep. */
	long (*read)(struct file *f, void *user, size_t n, u64 *pos);
	long (*write)(struct file *f, const void *user, size_t n, u64 *pos);
	/* NULL: -ENOTTY. */
	long (*ioctl)(struct file *f, u32 cmd, u32 arg);
	/* Bits of poll(2) that hold now. NULL: always readable and writable. */
	u32 (*poll)(struct file *f);
	int (*open)(struct file *f);     /* 0 or -errno; NULL: nothing to do; may set f->fops */
	int (*sync)(struct file *f);     /* devices: fsync; NULL: -EINVAL */
	void (*release)(struct file *f); /* last close */
};

/* Names and nodes. All may sleep; 0 or -errno. The name is checked (length, not . or ..), the
 * directory is one and its lock is held (for a rename those of both). Times, and the names in
 * memory, are the caller's work; nlink is the file system's. NULL: not possible there (-EPERM). */
struct dir_entry {
	u64 next;      /* cursor of the entry after it */
	u32 ino, mode; /* mode: the S_IFMT part */
	u32 len;
	char name[NAME_MAX + 1]; /* NUL-terminated */
};

struct inode_operations {
	/* By a walk, for a name that is not in memory: -ENOENT, or a reference in *inode. NULL: all
	 * names are in memory. */
	int (*lookup)(struct inode *dir, const struct path_name *name, struct inode **inode);
	/* A new file of any kind with a reference in *inode. mode has S_IFMT; rdev: of nodes;
	 * target: of symlinks. */
	int (*create)(struct inode *dir, const struct path_name *name, u32 mode, u32 rdev,
		      const char *target, struct inode **inode);
	int (*link)(struct inode *dir, const struct path_name *name, struct inode *inode);
	/* Directories too: -ENOTEMPTY. */
	int (*unlink)(struct inode *dir, const struct path_name *name, struct inode *inode);
	/* replaced: what has the new name now, or NULL; it loses it. */
	int (*rename)(struct inode *from, const struct path_name *old, struct inode *to,
		      const struct path_name *new, struct inode *inode, struct inode *replaced);
	/* The first entry at or after cursor, without . and ..; -ENOENT at the end. */
	int (*iterate)(struct inode *dir, u64 cursor, struct dir_entry *e);
	/* A symlink's target as a string; NULL: inode->private is the text. */
	int (*readlink)(struct inode *link, char *buf, size_t size);
	/* Blocks beyond go; its pages there have gone already. inode->size is the new one if the
	 * file gets shorter, else still the old one: the caller sets it. inode->lock is held. */
	int (*truncate)(struct inode *inode, u64 size);
};

enum inode_state {
	INODE_STORED = 1, /* of a file system on a device: cached by its number */
	INODE_NEW = 2, /* being read: others wait */
	INODE_BAD = 4, /* could not be read */
	INODE_DIRTY = 8, /* write_inode is due */
	INODE_READ_DUE = 16, /* the next read is an access to note (relatime) */
	INODE_GOING = 32, /* leaves memory: nobody may begin to use it */
	INODE_SWAP = 64, /* a swap area lies in it: neither written nor cut (-ETXTBSY) */
};

struct inode {
	/* inode_alloc sets these, */
	u32 ino, mode;
	u32 count; /* references: names in memory, open files, regions, cwd, mounts */
	u32 state; /* enum inode_state */
	struct super_block *sb;
	const struct inode_operations *ops;
	u64 accessed, modified; /* clock_stamp() of what came since the times below; 0: nothing */
	u64 atime_ns, mtime_ns, ctime_ns; /* since 1970; not set while those above say all */

	/* and the rest, as far as the lock, begins as zero. */
	u64 changed; /* clock_stamp(), as modified */
	u32 nlink, rdev; /* rdev: major << 8 | minor */
	u32 uid, gid;
	u64 size;
	u64 blocks; /* STORED: units of 512 bytes, kept by the file system */
	u32 block_bits; /* STORED: its blocks have 1 << block_bits bytes */
	const struct file_operations *fops; /* NULL: cannot be opened (-ENXIO) */
	struct inode *parent; /* where its name is; NULL: it has none. Not counted */
	struct inode *mounted; /* directory: the root of what is mounted here; NULL: nothing */
	u32 nr_writers; /* open files and regions that may write to it: it is not executed */
	u32 nr_names; /* dentries that lead here */
	struct file_lock *locks; /* held by programs */
	struct pipe *pipe; /* FIFO: while it is open */
	struct page_cache cache; /* of a regular file, of a block device */
	/* Frees what private points to, with the last reference; NULL: nothing. */
	void (*evict)(struct inode *inode);
	/* the file system's; symlink without readlink: target */
	void *private;
	u32 private_id;

	struct mutex lock; /* directories: names; files: size and blocks */
	struct list_head entries; /* directory: of struct dentry, by cookie */
	struct list_head on_sb; /* in sb->inodes */
	struct list_head dirty; /* in sb->dirty, with INODE_DIRTY */
	struct list_head lru; /* STORED and count 0: unused, oldest first */
	struct inode *hash_next;
};

struct dentry {
	struct list_head node; /* in the directory's entries */
	struct list_head lru; /* STORED: of all of them, oldest first */
	struct dentry *hash_next;
	struct inode *dir; /* not counted: it stays while names of it are in memory */
	struct inode *inode; /* with a reference; NULL: there is no such name */
	u32 cookie; /* place in the directory; never used again */
	u32 hash, len;
	bool used; /* since the shrinker looked at it */
	char name[]; /* NUL-terminated */
};

struct kstatfs {
	u32 magic, block_size;
	u64 blocks, blocks_free, blocks_available; /* of block_size */
	u64 files, files_free;
};

struct super_operations {
	/* Into its metadata block, which becomes dirty. 0 or -errno. May sleep. */
	int (*write_inode)(struct inode *inode);
	/* It leaves memory; its pages are gone. nlink 0: frees its blocks and itself on the device,
	 * and may sleep. Else it only frees memory and must not sleep: reclaim calls it. */
	void (*evict_inode)(struct inode *inode);
	/* Superblock and what else it keeps: into dirty buffers. 0 or -errno. */
	int (*sync)(struct super_block *sb);
	/* All dirty buffers reach the medium; NULL: nothing else is to be done. 0 or -errno. */
	int (*flush)(struct super_block *sb);
	int (*statfs)(struct super_block *sb, struct kstatfs *st);
	/* After the last inode: writes and flushes all, marks clean, frees private. */
	void (*put_super)(struct super_block *sb);
	/* Before it becomes read-only or writable; NULL: always possible. 0 or -errno. */
	int (*remount)(struct super_block *sb, bool read_only);
};

struct super_block {
	const struct fs_type *type;
	const struct super_operations *ops;
	struct block_device *bdev; /* NULL: in memory */
	char source[32]; /* as it was given to mount */
	u32 dev, block_size, block_bits;
	u64 max_size; /* of a file, bytes */
	bool read_only;
	bool freeing; /* something is, and is lost if it cannot be: it waits longer for memory */
	bool closing; /* it is about to become read-only: nothing new is changed */
	u32 nr_writers; /* those of its files, and changes of names and sizes that are under way */
	bool swaps; /* its files are shared memory: they leave for the swap area (mm/cache/shmem.c) */
	u32 nr_pages, max_pages; /* of shared memory, wherever they are; 0: no limit */
	struct inode *root; /* with a reference */
	struct inode *mounted_on; /* with a reference; NULL: the first root, or not mounted */
	struct list_head inodes, dirty; /* of struct inode */
	struct list_head node; /* in the list of mounts, oldest first; empty: not mounted */
	void *private;
};

struct fs_type {
	const char *name;
	bool on_device;
	struct super_block *single; /* there is only this one (proc); NULL: a new one each time */
	/* Sets ops, root (with a reference), block_size, block_bits, max_size; prints why it fails.
	 * 0 or -errno. May sleep. */
	int (*mount)(struct super_block *sb, const char *options);
};

struct file {
	struct inode *inode;
	const struct file_operations *fops;
	u32 count, flags; /* flags: O_... */
	u64 pos;
	struct readahead ahead;
	u32 errors_told; /* cache.errors when fsync last told it */
	void *private;
};

/* Is it open for it? With O_WRONLY | O_RDWR for neither, as on Linux. */
static inline bool file_may_read(const struct file *f)
{
	return !(f->flags & O_WRONLY);
}

static inline bool file_may_write(const struct file *f)
{
	return (f->flags + 1) & O_RDWR;
}

struct files_struct {
	struct file *fd[NR_OPEN];
	u64 cloexec; /* bit per descriptor */
};

/* What stat(2) tells, before the ABI's layout. */
struct kstat {
	u32 dev, ino, mode, nlink, rdev; /* dev, rdev: major << 8 | minor */
	u32 blksize; /* bytes */
	u64 size, blocks; /* bytes; units of 512 bytes that are allocated */
	u32 uid, gid;
	u64 atime_ns, mtime_ns, ctime_ns; /* since 1970 */
};

/* Root, caches. Needs kmalloc. */
void vfs_init(void);
/* Unpacks the newc archive at [start, end) into ramfs; panics at boot with what is wrong in it.
 * Everything is copied: the archive's memory may be freed afterwards. */
void initramfs_unpack(const void *start, const void *end);

/* A path that begins at base; NULL: at the working directory. */
struct path_at {
	struct inode *base;
	const char *name;
};

#define RENAME_NOREPLACE 1u

/*
 * Names. Paths are kernel strings, relative to current's working directory unless they begin
 * with a slash. All may sleep; all return 0 or -errno unless they say otherwise.
 */
/* The inode of a path, with a reference; unchanged on failure. follow: of a final symlink. */
int vfs_lookup(const char *path, bool follow, struct inode **inode);
/* Opens: a file with count 1 in *file. mode: of a new file, umask already applied. */
int vfs_open(const char *path, u32 flags, u32 mode, struct file **file);
int vfs_unlink(const char *path);
int vfs_mkdir(const char *path, u32 mode);
int vfs_rmdir(const char *path);
/* symlink: target is the text; mode, rdev: of a node. */
int vfs_symlink(const char *target, const char *path);
int vfs_mknod(const char *path, u32 mode, u32 rdev);
int vfs_link(const struct path_at *from, const struct path_at *to, bool follow);
/* flags: RENAME_NOREPLACE. */
int vfs_rename(const struct path_at *from, const struct path_at *to, u32 flags);
int vfs_chdir(const char *path);
/* Length with the NUL, -ERANGE: does not fit, -ENOENT: the directory was removed. */
int vfs_getcwd(char *buf, size_t n);
/* Length without a NUL, cut to n; -EINVAL: not a symlink. */
int vfs_readlink(const char *path, char *buf, size_t n);
/* The path of an inode: 0, -ENOENT: it has no name any more, -ERANGE. Never sleeps. */
int vfs_path_of(struct inode *inode, char *buf, size_t n);

#define MS_RDONLY 1u
#define MS_REMOUNT 32u
/* With nosuid, nodev, noexec, noatime, nodiratime, silent, relatime: they change nothing here. */
#define MS_KNOWN (MS_RDONLY | MS_REMOUNT | 2u | 4u | 8u | 1024u | 2048u | 32768u | 1u << 21)

/* source: a device's name or path where the type has one, else any text. options: the type's own,
 * or NULL. */
int vfs_mount(const char *source, const char *path, const char *type, u32 flags,
	      const char *options);
/* -EBUSY: somebody uses it; -EINVAL: nothing is mounted there. */
int vfs_umount(const char *path, bool follow);
/* Covers / by the device that root= names; panics if that cannot be. For the first process. */
void mount_disks(void);
/* Everything that is dirty, and waits: 0 or the first error. */
int vfs_sync(void);
/* Of the file system of inode. */
int vfs_syncfs(struct inode *inode);
int vfs_statfs(struct inode *inode, struct kstatfs *st);
/* An open file and what describes it; waits. */
int vfs_fsync(struct file *f);
/* Names and inodes of devices that nobody uses leave memory, the more the lower the priority
 * (DEF_PRIORITY to 0). How many went. Never sleeps. */
u32 vfs_shrink(int priority);
/* All of those that are clean. */
void vfs_drop_caches(void);
/* Pages of files that are clean and not in use leave memory. Never sleeps. */
void vfs_drop_pages(void);

/* Open files: bytes moved or -errno; at f->pos, or at *pos, which is advanced (-ESPIPE: pipes and
 * terminals). May sleep. */
long vfs_read(struct file *f, void *user, size_t n);
long vfs_write(struct file *f, const void *user, size_t n);
long vfs_read_at(struct file *f, void *user, size_t n, u64 *pos);
long vfs_write_at(struct file *f, const void *user, size_t n, u64 *pos);
/* The new position goes to *pos. -ESPIPE: pipes and terminals; -EINVAL: before the start. */
int vfs_seek(struct file *f, long long offset, int whence, u64 *pos);
long vfs_ioctl(struct file *f, u32 cmd, u32 arg);
/* Linux's struct linux_dirent64; bytes written, 0: no more. -EINVAL: no room for one entry. */
long vfs_getdents64(struct file *f, void *user, size_t n);
/* Bits of poll(2) that hold now: POLLIN and so on. */
u32 file_poll(struct file *f);
/* Is there a disk, past whose cache it can be read and written (O_DIRECT)? */
bool file_may_be_direct(const struct inode *inode);
/* Woken whenever some file's bits may have changed; its waiters look at all of theirs again.
 * Whoever implements poll calls file_poll_changed() then; from any context. */
extern struct wait_queue poll_wait;

static inline void file_poll_changed(void)
{
	if (!list_empty(&poll_wait.waiters))
		wake_up(&poll_wait);
}

/*
 * Inodes of file systems on devices.
 *
 * inode_get_cached: the one with that number, with a reference; *is_new: it was not in memory and
 * has ino, sb, count 1, an empty cache and all else zero. Whoever asks for it too waits until the
 * file system has filled it and calls inode_ready, or inode_bad (it cannot be read; the reference
 * is given back). NULL: no memory. May sleep.
 */
struct inode *inode_get_cached(struct super_block *sb, u32 ino, bool *is_new);
void inode_ready(struct inode *inode);
void inode_bad(struct inode *inode);
/* write_inode is due. Never sleeps. */
void inode_mark_dirty(struct inode *inode);
/* Writes an inode, and with data its pages first, and waits: 0 or the first error. */
int inode_sync(struct inode *inode, bool data);
/* Gives an inode of /dev's super block a name there; at boot, panics if it is taken. */
void dev_register(const char *name, struct inode *inode);
/* The nodes of all block devices, when they are known. */
void dev_add_disks(void);
/* The default operations of a FIFO, a device, a directory by mode and rdev; others: none. */
void inode_set_special(struct inode *inode);

/* May the file system be changed? 0 or -EROFS. */
static inline int super_may_change(const struct super_block *sb)
{
	return unlikely(sb->read_only || sb->closing) ? -EROFS : 0;
}

/* A change begins that may sleep; when it is over, super_end_change. 0 or -EROFS. */
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

/* So many more, or fewer, may write to it. */
static inline void inode_count_writers(struct inode *inode, int n)
{
	inode->nr_writers += n;
	inode->sb->nr_writers += n;
}

/* Its data or names have changed: mtime and ctime, turned into dates when somebody asks. */
static inline void inode_touch(struct inode *inode)
{
	inode->modified = clock_stamp();
	inode->state |= INODE_READ_DUE;
	if (inode->state & INODE_STORED)
		inode_mark_dirty(inode);
}

/* Its owner, mode, links have: ctime. */
static inline void inode_changed(struct inode *inode)
{
	inode->changed = clock_stamp();
	inode->state |= INODE_READ_DUE;
	if (inode->state & INODE_STORED)
		inode_mark_dirty(inode);
}

/* Brings atime_ns, mtime_ns, ctime_ns up to date; the core does before write_inode. */
void inode_settle_times(struct inode *inode);

/* Inodes. */
void vfs_stat(struct inode *inode, struct kstat *st);
/* The rest: 0, -EROFS, -EPERM (/proc), -EOPNOTSUPP (the mode of a symlink). KEEP_ID: as it is. */
#define KEEP_ID 0xffffffffu
int vfs_chmod(struct inode *inode, u32 mode);
int vfs_chown(struct inode *inode, u32 uid, u32 gid);
#define TIME_NOW (~0ull)
#define TIME_KEEP (~1ull)
int vfs_utimes(struct inode *inode, u64 atime_ns, u64 mtime_ns);
/* 0, -EISDIR, -EINVAL: not a regular file, -EFBIG. */
int vfs_truncate(struct inode *inode, u64 size);
/* Reads from an inode into kernel memory (execve): bytes or -errno. Never sleeps. */
long vfs_read_kernel(struct inode *inode, u64 pos, void *to, size_t n);
/* Page `index` of a regular file with a reference: 0, -EINVAL beyond the end, -ENOMEM: no room. */
int vfs_get_page(struct inode *inode, u32 index, struct page **page);

/* Shared memory without a name in the tree, of size bytes, with a reference; name is shown to people.
 * 0, -ENOMEM, -EFBIG. The name of such an inode, or NULL. An open file of it, for reading and writing. */
int vfs_shmem_create(const char *name, u64 size, struct inode **inode);
const char *vfs_shmem_name(const struct inode *inode);
int vfs_shmem_open(struct inode *inode, struct file **file);

void inode_free(struct inode *inode);
void file_free(struct file *f);

static inline void inode_get(struct inode *inode)
{
	inode->count++;
}

/* May sleep, as may file_put: the last reference frees. */
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

/* Descriptor tables. */
struct files_struct *files_create(void); /* NULL: no memory */
struct files_struct *files_fork(struct files_struct *from); /* NULL: no memory */
void files_destroy(struct files_struct *files);
void files_close_on_exec(struct files_struct *files);
/* The open file of a descriptor of current, or NULL; no reference is taken: only current itself
 * can close it, since no two tasks share a table. fd_file: NULL also for one of O_PATH. */
struct file *fd_file(u32 fd);
struct file *fd_place(u32 fd);
/* The lowest free descriptor of current that is at least from; the caller's reference goes to
 * the table. -EMFILE, -EINVAL (from is too large): the caller keeps it. */
int fd_install(struct file *f, u32 from, bool cloexec);
/* The same at exactly fd, closing what was there: fd, or -EBADF. */
int fd_install_at(struct file *f, u32 fd, bool cloexec);
int fd_close(u32 fd); /* 0 or -EBADF */
bool fd_cloexec(u32 fd);
void fd_set_cloexec(u32 fd, bool on);

#endif
