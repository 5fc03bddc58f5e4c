/*
 * Calls for extended attributes. No file system here has any, so the calls answer as on such a file
 * system of Linux: a list of a file's attributes is empty, and to read, set or remove one fails with
 * EOPNOTSUPP. Programs rely on it: `ls -l` asks for the access list of every file.
 */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"
#include "internal.h"

#define XATTR_NAME_MAX 255u
#define XATTR_SIZE_MAX 65536u
#define XATTR_FLAGS 3u /* XATTR_CREATE, XATTR_REPLACE */

/* Returns 0 if a path, or an open file, exists, or -errno. */
static int path_exists(const char *path, u32 flags)
{
	struct inode *inode;
	int err = inode_at(AT_FDCWD, path, flags, &inode);

	if (!err)
		inode_put(inode);
	return err;
}

static int is_open(u32 fd)
{
	return fd_file(fd) ? 0 : -EBADF;
}

/* The result for one attribute of a file; err: of finding the file. */
static int no_attribute(int err, const char *user)
{
	char name[XATTR_NAME_MAX + 1];

	if (err)
		return err;
	err = strncpy_from_user(name, user, sizeof(name));
	if (!err || err == -ENAMETOOLONG)
		return -ERANGE;
	return err < 0 ? err : -EOPNOTSUPP;
}

static int set(int err, const char *name, const u8 *value, u32 size, u32 flags)
{
	u8 byte;

	if (err)
		return err;
	if (flags & ~XATTR_FLAGS)
		return -EINVAL;
	err = no_attribute(0, name);
	if (err != -EOPNOTSUPP || !size)
		return err;
	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	return copy_from_user(&byte, value + size - 1, 1) ? -EFAULT : -EOPNOTSUPP;
}

long sys_setxattr(const char *path, const char *name, const void *value, u32 size, u32 flags)
{
	return set(path_exists(path, 0), name, value, size, flags);
}

long sys_lsetxattr(const char *path, const char *name, const void *value, u32 size, u32 flags)
{
	return set(path_exists(path, AT_SYMLINK_NOFOLLOW), name, value, size, flags);
}

long sys_fsetxattr(u32 fd, const char *name, const void *value, u32 size, u32 flags)
{
	return set(is_open(fd), name, value, size, flags);
}

/* getxattr and removexattr. */
long sys_getxattr(const char *path, const char *name)
{
	return no_attribute(path_exists(path, 0), name);
}

long sys_lgetxattr(const char *path, const char *name)
{
	return no_attribute(path_exists(path, AT_SYMLINK_NOFOLLOW), name);
}

long sys_fgetxattr(u32 fd, const char *name)
{
	return no_attribute(is_open(fd), name);
}

long sys_listxattr(const char *path)
{
	return path_exists(path, 0);
}

long sys_llistxattr(const char *path)
{
	return path_exists(path, AT_SYMLINK_NOFOLLOW);
}

long sys_flistxattr(u32 fd)
{
	return is_open(fd);
}
