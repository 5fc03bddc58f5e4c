/* System calls that change a file's metadata: mode, owner, times, size. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"
#include "internal.h"

#define AT_FLAGS (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)
#define UTIME_NOW 0x3fffffff
#define UTIME_OMIT 0x3ffffffe

struct times {
	u64 atime_ns, mtime_ns; /* or TIME_NOW, TIME_KEEP */
};

static int inode_of_fd(u32 fd, bool place, struct inode **inode)
{
	struct file *f = place ? fd_place(fd) : fd_file(fd);

	if (!f)
		return -EBADF;
	*inode = f->inode;
	inode_get(*inode);
	return 0;
}

int inode_at(int dirfd, const char *user, u32 flags, struct inode **inode)
{
	struct user_path p;
	char first;
	int err;

	if (flags & ~AT_FLAGS)
		return -EINVAL;
	if (flags & AT_EMPTY_PATH) {
		if (copy_from_user(&first, user, 1))
			return -EFAULT;
		if (!first && dirfd == AT_FDCWD)
			return vfs_lookup(".", true, inode);
		if (!first)
			return inode_of_fd(dirfd, true, inode);
	}
	err = path_begin(&p, dirfd, user);
	if (err)
		return err;
	err = vfs_lookup(p.name, !(flags & AT_SYMLINK_NOFOLLOW), inode);
	path_end(&p);
	return err;
}

static int chmod_and_put(int err, struct inode *inode, u32 mode)
{
	if (err)
		return err;
	err = vfs_chmod(inode, mode);
	inode_put(inode);
	return err;
}

long sys_fchmod(u32 fd, u32 mode)
{
	struct inode *inode;
	int err = inode_of_fd(fd, false, &inode);

	return chmod_and_put(err, inode, mode);
}

long sys_fchmodat(int dirfd, const char *path, u32 mode)
{
	struct inode *inode;
	int err = inode_at(dirfd, path, 0, &inode);

	return chmod_and_put(err, inode, mode);
}

long sys_chmod(const char *path, u32 mode)
{
	return sys_fchmodat(AT_FDCWD, path, mode);
}

static int chown_and_put(int err, struct inode *inode, u32 uid, u32 gid)
{
	if (err)
		return err;
	err = vfs_chown(inode, uid, gid);
	inode_put(inode);
	return err;
}

long sys_fchownat(int dirfd, const char *path, u32 uid, u32 gid, u32 flags)
{
	struct inode *inode;
	int err = inode_at(dirfd, path, flags, &inode);

	return chown_and_put(err, inode, uid, gid);
}

long sys_chown32(const char *path, u32 uid, u32 gid)
{
	return sys_fchownat(AT_FDCWD, path, uid, gid, 0);
}

long sys_lchown32(const char *path, u32 uid, u32 gid)
{
	return sys_fchownat(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

long sys_fchown32(u32 fd, u32 uid, u32 gid)
{
	struct inode *inode;
	int err = inode_of_fd(fd, false, &inode);

	return chown_and_put(err, inode, uid, gid);
}

/* Extends the 16-bit ids of the old calls. */
static u32 wide(u32 id)
{
	return (id & 0xffff) == 0xffff ? KEEP_ID : id & 0xffff;
}

long sys_chown(const char *path, u32 uid, u32 gid)
{
	return sys_chown32(path, wide(uid), wide(gid));
}

long sys_lchown(const char *path, u32 uid, u32 gid)
{
	return sys_lchown32(path, wide(uid), wide(gid));
}

long sys_fchown(u32 fd, u32 uid, u32 gid)
{
	return sys_fchown32(fd, wide(uid), wide(gid));
}

/* Times. */

/* Converts one time. Returns 0 or -EINVAL. special: nsec may be UTIME_NOW or UTIME_OMIT. */
static int one_time(s64 sec, s64 nsec, bool special, u64 *ns)
{
	s64 value;

	*ns = nsec == UTIME_NOW ? TIME_NOW : TIME_KEEP;
	if (special && (nsec == UTIME_NOW || nsec == UTIME_OMIT))
		return 0;
	if (nsec < 0 || nsec >= 1000000000)
		return -EINVAL;
	value = sec < 0 ? 0 : timespec_ns(sec, nsec); /* times before 1970 become 1970 */
	*ns = value;
	return value < 0 ? -EINVAL : 0;
}

static int set_times(int dirfd, const char *path, u32 flags, const struct times *t)
{
	struct inode *inode;
	int err = path ? inode_at(dirfd, path, flags, &inode) : inode_of_fd(dirfd, false, &inode);

	if (err)
		return err;
	err = vfs_utimes(inode, t->atime_ns, t->mtime_ns);
	inode_put(inode);
	return err;
}

long sys_utimensat(int dirfd, const char *path, const void *user, u32 flags)
{
	struct times t = { TIME_NOW, TIME_NOW };
	s32 s[4];

	if (user) {
		if (copy_from_user(s, user, sizeof(s)))
			return -EFAULT;
		if (one_time(s[0], s[1], true, &t.atime_ns) ||
		    one_time(s[2], s[3], true, &t.mtime_ns))
			return -EINVAL;
	}
	return set_times(dirfd, path, flags, &t);
}

long sys_utimensat_time64(int dirfd, const char *path, const void *user, u32 flags)
{
	struct times t = { TIME_NOW, TIME_NOW };
	s64 s[4];

	if (user) {
		if (copy_from_user(s, user, sizeof(s)))
			return -EFAULT;
		/* only the low word of the nanoseconds counts, as in a 32-bit program */
		if (one_time(s[0], (s32)s[1], true, &t.atime_ns) ||
		    one_time(s[2], (s32)s[3], true, &t.mtime_ns))
			return -EINVAL;
	}
	return set_times(dirfd, path, flags, &t);
}

long sys_futimesat(int dirfd, const char *path, const void *user)
{
	struct times t = { TIME_NOW, TIME_NOW };
	s32 s[4];

	if (user) {
		if (copy_from_user(s, user, sizeof(s)))
			return -EFAULT;
		if (s[1] < 0 || s[1] >= 1000000 || s[3] < 0 || s[3] >= 1000000 ||
		    one_time(s[0], s[1] * 1000, false, &t.atime_ns) ||
		    one_time(s[2], s[3] * 1000, false, &t.mtime_ns))
			return -EINVAL;
	}
	return set_times(dirfd, path, 0, &t);
}

long sys_utimes(const char *path, const void *user)
{
	return sys_futimesat(AT_FDCWD, path, user);
}

long sys_utime(const char *path, const void *user)
{
	struct times t = { TIME_NOW, TIME_NOW };
	s32 s[2];

	if (user) {
		if (copy_from_user(s, user, sizeof(s)))
			return -EFAULT;
		if (one_time(s[0], 0, false, &t.atime_ns) || one_time(s[1], 0, false, &t.mtime_ns))
			return -EINVAL;
	}
	return set_times(AT_FDCWD, path, 0, &t);
}

/* Size. */

long sys_truncate64(const char *path, u32 lo, u32 hi)
{
	u64 size = (u64)hi << 32 | lo;
	struct inode *inode;
	int err;

	if ((s64)size < 0)
		return -EINVAL;
	err = inode_at(AT_FDCWD, path, 0, &inode);
	if (err)
		return err;
	err = vfs_truncate(inode, size);
	inode_put(inode);
	return err;
}

long sys_truncate(const char *path, s32 size)
{
	return size < 0 ? -EINVAL : sys_truncate64(path, size, 0);
}

long sys_ftruncate64(u32 fd, u32 lo, u32 hi)
{
	struct file *f = fd_file(fd);
	u64 size = (u64)hi << 32 | lo;

	if (!f)
		return -EBADF;
	if ((s64)size < 0 || !file_may_write(f))
		return -EINVAL;
	return vfs_truncate(f->inode, size);
}

long sys_ftruncate(u32 fd, s32 size)
{
	return size < 0 ? -EINVAL : sys_ftruncate64(fd, size, 0);
}

#define FALLOC_FL_KEEP_SIZE 1u

static int check_allocation(const struct file *f, s64 start, s64 len)
{
	switch (f->inode->mode & S_IFMT) {
	case S_IFREG:
		break;
	case S_IFIFO:
		return -ESPIPE;
	case S_IFDIR:
		return -EISDIR;
	case S_IFBLK:
		return -EOPNOTSUPP;
	default:
		return -ENODEV;
	}
	if (start + (u64)len > CACHE_MAX_SIZE)
		return -EFBIG;
	return f->inode->ops->truncate ? 0 : -EOPNOTSUPP;
}

long sys_fallocate(u32 fd, u32 mode, u32 lo, u32 hi, u32 len_lo, u32 len_hi)
{
	struct file *f = fd_file(fd);
	s64 start = (u64)hi << 32 | lo, len = (u64)len_hi << 32 | len_lo;
	int err;

	if (!f)
		return -EBADF;
	if (start < 0 || len <= 0)
		return -EINVAL;
	if (mode & ~FALLOC_FL_KEEP_SIZE)
		return -EOPNOTSUPP;
	if (!file_may_write(f))
		return -EBADF;
	err = check_allocation(f, start, len);
	return err ? err : vfs_fallocate(f->inode, start, start + len, mode);
}
