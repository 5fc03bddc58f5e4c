/* System calls that create names: links, symbolic links, nodes. */
#include "calls.h"
#include "errno.h"
#include "fs/vfs.h"
#include "internal.h"
#include "sched/current.h"

long sys_linkat(int from_dir, const char *from, int to_dir, const char *to, u32 flags)
{
	struct path_at p, q;
	int err;

	if (flags & ~AT_SYMLINK_FOLLOW)
		return -EINVAL;
	err = place_begin(&p, from_dir, from);
	if (err)
		return err;
	err = place_begin(&q, to_dir, to);
	if (!err) {
		err = vfs_link(&p, &q, flags & AT_SYMLINK_FOLLOW);
		place_end(&q);
	}
	place_end(&p);
	return err;
}

long sys_link(const char *from, const char *to)
{
	return sys_linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

long sys_symlinkat(const char *target, int dirfd, const char *user)
{
	struct user_path text, p;
	int err = path_begin(&text, AT_FDCWD, target);

	if (err)
		return err;
	err = path_begin(&p, dirfd, user);
	if (!err) {
		err = vfs_symlink(text.name, p.name);
		path_end(&p);
	}
	path_end(&text);
	return err;
}

long sys_symlink(const char *target, const char *path)
{
	return sys_symlinkat(target, AT_FDCWD, path);
}

/* The ABI splits a device number: 12 bits of the major, 8 and 12 of the minor. In this kernel both
 * have 8 bits. */
static int device_number(u32 dev, u32 *rdev)
{
	u32 major = dev >> 8 & 0xfff, minor = (dev & 0xff) | (dev >> 12 & 0xfff00);

	*rdev = major << 8 | minor;
	return major > 0xff || minor > 0xff ? -EINVAL : 0;
}

/* Completes the mode of a node. Returns 0 or -errno. */
static int node_mode(u32 *mode)
{
	switch (*mode & S_IFMT) {
	case 0:
		*mode |= S_IFREG;
		break;
	case S_IFDIR:
		return -EPERM;
	case S_IFREG:
	case S_IFIFO:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFSOCK:
		break;
	default:
		return -EINVAL;
	}
	*mode &= S_IFMT | (07777 & ~current->umask);
	return 0;
}

long sys_mknodat(int dirfd, const char *user, u32 mode, u32 dev)
{
	struct user_path p;
	u32 rdev = 0;
	int err = node_mode(&mode);

	if (!err && ((mode & S_IFMT) == S_IFCHR || (mode & S_IFMT) == S_IFBLK))
		err = device_number(dev, &rdev);
	if (!err)
		err = path_begin(&p, dirfd, user);
	if (err)
		return err;
	err = vfs_mknod(p.name, mode, rdev);
	path_end(&p);
	return err;
}

long sys_mknod(const char *user, u32 mode, u32 dev)
{
	return sys_mknodat(AT_FDCWD, user, mode, dev);
}
