/* System calls that open a file. */
#include "calls.h"
#include "fs/files.h"
#include "internal.h"
#include "sched/current.h"

long sys_openat(int dirfd, const char *user, u32 flags, u32 mode)
{
	struct user_path p;
	struct file *f;
	int err = path_begin(&p, dirfd, user), fd;

	if (err)
		return err;
	err = vfs_open(p.name, flags, mode & 07777 & ~current->umask, &f);
	path_end(&p);
	if (err)
		return err;
	fd = fd_install(f, 0, flags & O_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}

long sys_open(const char *user, u32 flags, u32 mode)
{
	return sys_openat(AT_FDCWD, user, flags, mode);
}

long sys_creat(const char *user, u32 mode)
{
	return sys_openat(AT_FDCWD, user, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
