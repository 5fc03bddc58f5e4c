/* System calls on descriptors. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/pipe.h"
#include "fs/files.h"
#include "internal.h"
#include "mm/slab.h"
#include "sched/current.h"

#define IOV_MAX 1024u
#define IOV_FEW 8u
#define O_KEPT (O_APPEND | O_NONBLOCK | O_DIRECT) /* the flags that F_SETFL may change */

enum { F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC = 1030, FD_CLOEXEC = 1 };

struct iovec32 {
	u32 base, len;
};

long sys_read(u32 fd, void *buf, u32 n)
{
	struct file *f = fd_place(fd);

	return f ? vfs_read(f, buf, n) : -EBADF;
}

long sys_write(u32 fd, const void *buf, u32 n)
{
	struct file *f = fd_place(fd);

	return f ? vfs_write(f, buf, n) : -EBADF;
}

/* Stops after the first partial transfer. Returns an error only if nothing was moved before it. */
static long move_vector(struct file *f, const struct iovec32 *iov, u32 n, bool write)
{
	long done = 0;

	for (u32 i = 0; i < n; i++) {
		void *base = (void *)iov[i].base;
		long moved;

		if (!iov[i].len)
			continue;
		moved = write ? vfs_write(f, base, iov[i].len) : vfs_read(f, base, iov[i].len);
		if (moved < 0)
			return done ? done : moved;
		done += moved;
		if ((u32)moved < iov[i].len)
			break;
	}
	return done;
}

static int check_vector(const struct iovec32 *iov, u32 n)
{
	u64 sum = 0;

	for (u32 i = 0; i < n; i++) {
		if (!access_ok((void *)iov[i].base, iov[i].len))
			return -EFAULT;
		sum += iov[i].len;
	}
	return sum > INT32_MAX ? -EINVAL : 0;
}

static long vector_call(u32 fd, const struct iovec32 *user, u32 n, bool write)
{
	struct iovec32 few[IOV_FEW], *iov = few;
	struct file *f = fd_file(fd);
	long result;

	if (!f)
		return -EBADF;
	if (n > IOV_MAX)
		return -EINVAL;
	if (n > IOV_FEW)
		iov = kmalloc(n * sizeof(*iov), GFP_KERNEL);
	if (!iov)
		return -ENOMEM;
	result = copy_from_user(iov, user, n * sizeof(*iov));
	if (!result)
		result = check_vector(iov, n);
	if (!result)
		result = move_vector(f, iov, n, write);
	if (iov != few)
		kfree(iov);
	return result;
}

long sys_readv(u32 fd, const struct iovec32 *iov, u32 n)
{
	return vector_call(fd, iov, n, false);
}

long sys_writev(u32 fd, const struct iovec32 *iov, u32 n)
{
	return vector_call(fd, iov, n, true);
}

long sys_close(u32 fd)
{
	return fd_close(fd);
}

static long dup_from(u32 fd, u32 from, bool cloexec)
{
	struct file *f = fd_place(fd);
	int new;

	if (!f)
		return -EBADF;
	file_get(f);
	new = fd_install(f, from, cloexec);
	if (new < 0)
		file_put(f);
	return new;
}

static long dup_at(u32 fd, u32 new, bool cloexec)
{
	struct file *f = fd_place(fd);
	int result;

	if (!f)
		return -EBADF;
	file_get(f);
	result = fd_install_at(f, new, cloexec);
	if (result < 0)
		file_put(f);
	return result;
}

long sys_dup(u32 fd)
{
	return dup_from(fd, 0, false);
}

long sys_dup2(u32 fd, u32 new)
{
	if (fd == new)
		return fd_place(fd) ? (long)new : -EBADF;
	return dup_at(fd, new, false);
}

long sys_dup3(u32 fd, u32 new, u32 flags)
{
	if (fd == new || flags & ~O_CLOEXEC)
		return -EINVAL;
	return dup_at(fd, new, flags & O_CLOEXEC);
}

/* Installs both descriptors, or neither. */
static long install_pipe(struct file *f[2], u32 *user, bool cloexec)
{
	int fd[2] = { fd_install(f[0], 0, cloexec), -1 };

	if (fd[0] < 0) {
		file_put(f[0]);
		file_put(f[1]);
		return fd[0];
	}
	fd[1] = fd_install(f[1], 0, cloexec);
	if (fd[1] < 0) {
		fd_close(fd[0]);
		file_put(f[1]);
		return fd[1];
	}
	if (!copy_to_user(user, fd, sizeof(fd)))
		return 0;
	fd_close(fd[0]);
	fd_close(fd[1]);
	return -EFAULT;
}

long sys_pipe2(u32 *user, u32 flags)
{
	struct file *f[2];
	int err;

	if (!access_ok(user, 8))
		return -EFAULT;
	err = do_pipe(f, flags & ~O_CLOEXEC);
	return err ? err : install_pipe(f, user, flags & O_CLOEXEC);
}

long sys_pipe(u32 *user)
{
	return sys_pipe2(user, 0);
}

long sys_ioctl(u32 fd, u32 cmd, u32 arg)
{
	struct file *f = fd_file(fd);

	return f ? vfs_ioctl(f, cmd, arg) : -EBADF;
}

long sys_fcntl64(u32 fd, u32 cmd, u32 arg)
{
	struct file *f = fd_place(fd);

	if (!f)
		return -EBADF;
	if (fcntl_is_lock(cmd))
		return f->flags & O_PATH ? -EBADF : fcntl_lock(f, cmd, (void *)arg);
	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return dup_from(fd, arg, cmd == F_DUPFD_CLOEXEC);
	case F_GETFD:
		return fd_cloexec(fd) ? FD_CLOEXEC : 0;
	case F_SETFD:
		fd_set_cloexec(fd, arg & FD_CLOEXEC);
		return 0;
	case F_GETFL:
		return f->flags & ~O_CLOEXEC;
	case F_SETFL:
		if (f->flags & O_PATH)
			return -EBADF;
		if (arg & O_DIRECT && !file_may_be_direct(f->inode))
			return -EINVAL;
		f->flags = (f->flags & ~O_KEPT) | (arg & O_KEPT);
		return 0;
	default:
		return fcntl_pipe(f, cmd, arg);
	}
}
