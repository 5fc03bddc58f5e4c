/* stat and its relatives: the results of vfs_stat in the layouts of the ABI. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"
#include "internal.h"
#include "lib/string.h"

#define STATX_BASIC_STATS 0x7ffu

/* Linux's struct stat64 of i386. */
struct stat64 {
	u64 dev;
	u32 pad0, ino32;
	u32 mode, nlink, uid, gid;
	u64 rdev;
	u32 pad1;
	u64 size;
	u32 blksize;
	u64 blocks;
	u32 atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec;
	u64 ino;
} __attribute__((packed));

STATIC_ASSERT(sizeof(struct stat64) == 96);

struct statx_time {
	s64 sec;
	u32 nsec;
	s32 pad;
} __attribute__((packed));

struct statx {
	u32 mask, blksize;
	u64 attributes;
	u32 nlink, uid, gid;
	u16 mode, pad;
	u64 ino, size, blocks, attributes_mask;
	struct statx_time atime, btime, ctime, mtime;
	u32 rdev_major, rdev_minor, dev_major, dev_minor;
	u64 spare[14];
} __attribute__((packed));

STATIC_ASSERT(sizeof(struct statx) == 256);

static int put_stat64(const struct kstat *st, void *user)
{
	u32 nsec;
	struct stat64 s = {
		.dev = st->dev,
		.ino32 = st->ino,
		.ino = st->ino,
		.mode = st->mode,
		.nlink = st->nlink,
		.uid = st->uid,
		.gid = st->gid,
		.rdev = st->rdev,
		.size = st->size,
		.blksize = st->blksize,
		.blocks = st->blocks,
	};

	s.atime = split_ns(st->atime_ns, &nsec);
	s.atime_nsec = nsec;
	s.mtime = split_ns(st->mtime_ns, &nsec);
	s.mtime_nsec = nsec;
	s.ctime = split_ns(st->ctime_ns, &nsec);
	s.ctime_nsec = nsec;
	return copy_to_user(user, &s, sizeof(s));
}

static void put_time(struct statx_time *t, u64 ns)
{
	u32 nsec;

	t->sec = split_ns(ns, &nsec);
	t->nsec = nsec;
}

static int put_statx(const struct kstat *st, void *user)
{
	struct statx s;

	/* Sets each member instead of zeroing the large structure first, which would write it
	 * twice. */
	s.mask = STATX_BASIC_STATS;
	s.blksize = st->blksize;
	s.nlink = st->nlink;
	s.mode = st->mode;
	s.ino = st->ino;
	s.size = st->size;
	s.blocks = st->blocks;
	s.uid = st->uid;
	s.gid = st->gid;
	s.rdev_major = st->rdev >> 8;
	s.rdev_minor = st->rdev & 0xff;
	s.dev_major = st->dev >> 8;
	s.dev_minor = st->dev & 0xff;
	s.pad = 0;
	s.attributes = s.attributes_mask = 0;
	s.btime = (struct statx_time){ .sec = 0 };
	s.mtime.pad = s.ctime.pad = s.atime.pad = 0;
	memset(s.spare, 0, sizeof(s.spare));
	put_time(&s.mtime, st->mtime_ns);
	s.ctime = s.atime = s.mtime; /* usually equal */
	if (st->ctime_ns != st->mtime_ns)
		put_time(&s.ctime, st->ctime_ns);
	if (st->atime_ns != st->mtime_ns)
		put_time(&s.atime, st->atime_ns);
	return copy_to_user(user, &s, sizeof(s));
}

static int stat_fd(u32 fd, struct kstat *st)
{
	struct file *f = fd_place(fd);

	if (!f)
		return -EBADF;
	vfs_stat(f->inode, st);
	return 0;
}

static int stat_cwd(struct kstat *st)
{
	struct inode *inode;
	int err = vfs_lookup(".", true, &inode);

	if (err)
		return err;
	vfs_stat(inode, st);
	inode_put(inode);
	return 0;
}

static int stat_path(int dirfd, const char *user, bool follow, struct kstat *st)
{
	struct user_path p;
	struct inode *inode;
	int err = path_begin(&p, dirfd, user);

	if (err)
		return err;
	err = vfs_lookup(p.name, follow, &inode);
	path_end(&p);
	if (err)
		return err;
	vfs_stat(inode, st);
	inode_put(inode);
	return 0;
}

/* Uses the path, or the descriptor if AT_EMPTY_PATH is given and the path is empty. */
static int stat_at(int dirfd, const char *user, u32 flags, struct kstat *st)
{
	char first;

	if (flags & AT_EMPTY_PATH) {
		if (copy_from_user(&first, user, 1))
			return -EFAULT;
		if (!first)
			return dirfd == AT_FDCWD ? stat_cwd(st) : stat_fd(dirfd, st);
	}
	return stat_path(dirfd, user, !(flags & AT_SYMLINK_NOFOLLOW), st);
}

long sys_stat64(const char *path, void *user)
{
	struct kstat st;
	int err = stat_path(AT_FDCWD, path, true, &st);

	return err ? err : put_stat64(&st, user);
}

long sys_lstat64(const char *path, void *user)
{
	struct kstat st;
	int err = stat_path(AT_FDCWD, path, false, &st);

	return err ? err : put_stat64(&st, user);
}

long sys_fstat64(u32 fd, void *user)
{
	struct kstat st;
	int err = stat_fd(fd, &st);

	return err ? err : put_stat64(&st, user);
}

long sys_fstatat64(int dirfd, const char *path, void *user, u32 flags)
{
	struct kstat st;
	int err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH))
		return -EINVAL;
	err = stat_at(dirfd, path, flags, &st);
	return err ? err : put_stat64(&st, user);
}

long sys_statx(int dirfd, const char *path, u32 flags, u32 mask, void *user)
{
	struct kstat st;
	int err;

	/* Returning more than requested is allowed. */
	if (mask & STATX_RESERVED ||
	    flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE))
		return -EINVAL;
	err = stat_at(dirfd, path, flags, &st);
	return err ? err : put_statx(&st, user);
}
