/* System calls with a position in a file. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"

long sys_pread64(u32 fd, void *buf, u32 n, u32 lo, u32 hi)
{
	struct file *f = fd_file(fd);
	u64 pos = (u64)hi << 32 | lo;

	if (!f)
		return -EBADF;
	return (s64)pos < 0 ? -EINVAL : vfs_read_at(f, buf, n, &pos);
}

long sys_pwrite64(u32 fd, const void *buf, u32 n, u32 lo, u32 hi)
{
	struct file *f = fd_file(fd);
	u64 pos = (u64)hi << 32 | lo;

	if (!f)
		return -EBADF;
	return (s64)pos < 0 ? -EINVAL : vfs_write_at(f, buf, n, &pos);
}

long sys_lseek(u32 fd, s32 offset, u32 whence)
{
	struct file *f = fd_file(fd);
	u64 pos;
	int err;

	if (!f)
		return -EBADF;
	err = vfs_seek(f, offset, whence, &pos);
	if (err)
		return err;
	return pos > INT32_MAX ? -EOVERFLOW : (long)pos;
}

long sys__llseek(u32 fd, u32 hi, u32 lo, u64 *result, u32 whence)
{
	struct file *f = fd_file(fd);
	u64 pos;
	int err;

	if (!f)
		return -EBADF;
	if (!access_ok(result, sizeof(*result)))
		return -EFAULT;
	err = vfs_seek(f, (s64)((u64)hi << 32 | lo), whence, &pos);
	return err ? err : copy_to_user(result, &pos, sizeof(pos));
}
