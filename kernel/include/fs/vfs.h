/*
 * Files: inodes (what a file is), open files (where somebody reads it), and names. One tree
 * of inodes in memory: ramfs from the initramfs at /, proc at /proc, devices by number.
 */
#ifndef FS_VFS_H
#define FS_VFS_H

#include "arch/time.h"
#include "lib/list.h"
#include "mm/cache.h"
#include "sched/wait.h"
#include "types.h"

struct file;
struct page;

#define S_IFMT 0170000
#define S_IFIFO 0010000
#define S_IFCHR 0020000
#define S_IFDIR 0040000
#define S_IFREG 0100000
#define S_IFLNK 0120000

#define O_ACCMODE 3
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_EXCL 0200
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_NONBLOCK 04000
#define O_DIRECTORY 0200000
#define O_NOFOLLOW 0400000
#define O_CLOEXEC 02000000
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
	int (*open)(struct file *f);     /* 0 or -errno; NULL: nothing to do */
	void (*release)(struct file *f); /* last close */
};

struct inode {
	u32 ino, mode, nlink, rdev;
	u32 count;              /* references: names, open files, regions, cwd */
	u64 size;
	u64 mtime_ns;           /* since 1970, as of the last stat */
	u64 modified;           /* cycles_now() of a change since then; 0: none */
	const struct file_operations *fops; /* NULL: cannot be opened (-ENXIO) */
	struct inode *parent;   /* where its name is; NULL: it has none. Not counted */
	/* directory */
	struct list_head entries; /* of struct dentry, by cookie */
	bool sealed;              /* its names are made by the kernel alone (procfs): -EPERM */
	/* Further entries, made when asked for (/proc and /proc/<pid>); NULL: there are none.
	 * lookup: 0 with a reference in *inode, or -errno; may sleep. iterate: the first entry
	 * at or after *cursor, which it moves past it; 0 or -ENOENT at the end; never sleeps. */
	int (*lookup)(struct inode *dir, const char *name, size_t len, struct inode **inode);
	int (*iterate)(struct inode *dir, u32 *cursor, char *name, u32 *ino, u32 *mode);
	/* symlink: its target goes to buf; 0 or -errno. NULL: private is the text */
	int (*readlink)(struct inode *link, char *buf, size_t size);
	struct page_cache cache;  /* of a regular file, of a block device */
	u32 block_bits;           /* with a store: its blocks have 1 << block_bits bytes */
	struct mutex lock;        /* with a store: size and blocks */
	/* Frees what private points to, with the last reference; NULL: nothing. */
	void (*evict)(struct inode *inode);
	/* procfs: what the file prints and accepts; symlink: target */
	void *private;
	u32 private_id;
};

struct dentry {
	struct list_head node; /* in the directory's entries */
	struct inode *inode;   /* with a reference */
	u32 cookie;            /* place in the directory; never used again */
	u32 len;
	char name[];           /* NUL-terminated */
};

struct file {
	struct inode *inode;
	const struct file_operations *fops;
	u32 count, flags; /* flags: O_... */
	u64 pos;
	void *private;
};

struct files_struct {
	struct file *fd[NR_OPEN];
	u64 cloexec; /* bit per descriptor */
};

/* What stat(2) tells, before the ABI's layout. */
struct kstat {
	u32 dev, ino, mode, nlink, rdev; /* dev, rdev: major << 8 | minor */
	u32 blksize;       /* bytes */
	u64 size, blocks;                /* bytes; units of 512 bytes that are allocated */
	u64 mtime_ns;                    /* since 1970; atime and ctime are the same */
};

/* Root, caches. Needs kmalloc. */
void vfs_init(void);
/* Unpacks the newc archive at [start, end) into ramfs; panics at boot with what is wrong in it.
 * Everything is copied: the archive's memory may be freed afterwards. */
void initramfs_unpack(const void *start, const void *end);

/*
 * Names. Paths are kernel strings, relative to current's working directory unless they begin
 * with a slash. All may sleep; all return 0 or -errno unless they say otherwise.
 */
/* The inode of a path, with a reference. follow: of a final symlink. */
int vfs_lookup(const char *path, bool follow, struct inode **inode);
/* Opens: a file with count 1 in *file. mode: of a new file, umask already applied. */
int vfs_open(const char *path, u32 flags, u32 mode, struct file **file);
int vfs_unlink(const char *path);
int vfs_mkdir(const char *path, u32 mode);
int vfs_rmdir(const char *path);
int vfs_rename(const char *from, const char *to);
int vfs_chdir(const char *path);
/* Length with the NUL, -ERANGE: does not fit, -ENOENT: the directory was removed. */
int vfs_getcwd(char *buf, size_t n);
/* Length without a NUL, cut to n; -EINVAL: not a symlink. */
int vfs_readlink(const char *path, char *buf, size_t n);
/* The path of an inode: 0, -ENOENT: it has no name any more, -ERANGE. Never sleeps. */
int vfs_path_of(struct inode *inode, char *buf, size_t n);

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
/* Woken whenever some file's bits may have changed; its waiters look at all of theirs again.
 * Whoever implements poll calls file_poll_changed() then; from any context. */
extern struct wait_queue poll_wait;

static inline void file_poll_changed(void)
{
	if (!list_empty(&poll_wait.waiters))
		wake_up(&poll_wait);
}

/* Inodes. */
void vfs_stat(struct inode *inode, struct kstat *st);
/* 0, -EISDIR, -EINVAL: not a regular file, -EFBIG. */
int vfs_truncate(struct inode *inode, u64 size);
/* Reads from an inode into kernel memory (execve): bytes or -errno. Never sleeps. */
long vfs_read_kernel(struct inode *inode, u64 pos, void *to, size_t n);
/* Page `index` of a regular file with a reference: 0, -EINVAL beyond the end, -ENOMEM: no room. */
int vfs_get_page(struct inode *inode, u32 index, struct page **page);

/* A change of its data: cheap now, turned into a date by the next stat. */
static inline void inode_touch(struct inode *inode)
{
	inode->modified = cycles_now();
}

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
struct files_struct *files_create(void);         /* NULL: no memory */
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
