/* System calls on names and directories. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"
#include "internal.h"
#include "mm/slab.h"
#include "sched/current.h"

enum { X_OK = 1, W_OK = 2, R_OK = 4 };

long sys_unlinkat(int dirfd, const char *user, u32 flags)
{
	struct user_path p;
	int err;

	if (flags & ~AT_REMOVEDIR)
		return -EINVAL;
	err = path_begin(&p, dirfd, user);
	if (err)
		return err;
	err = flags & AT_REMOVEDIR ? vfs_rmdir(p.name) : vfs_unlink(p.name);
	path_end(&p);
	return err;
}

long sys_unlink(const char *user)
{
	return sys_unlinkat(AT_FDCWD, user, 0);
}

long sys_rmdir(const char *user)
{
	return sys_unlinkat(AT_FDCWD, user, AT_REMOVEDIR);
}

long sys_mkdirat(int dirfd, const char *user, u32 mode)
{
	struct user_path p;
	int err = path_begin(&p, dirfd, user);

	if (err)
		return err;
	err = vfs_mkdir(p.name, mode & 01777 & ~current->umask);
	path_end(&p);
	return err;
}

long sys_mkdir(const char *user, u32 mode)
{
	return sys_mkdirat(AT_FDCWD, user, mode);
}

/* Renames with two paths from user memory. */
static long rename_names(int from_dir, const char *from, int to_dir, const char *to, u32 flags)
{
	struct path_at p, q;
	int err = place_begin(&p, from_dir, from);

	if (err)
		return err;
	err = place_begin(&q, to_dir, to);
	if (!err) {
		err = vfs_rename(&p, &q, flags);
		place_end(&q);
	}
	place_end(&p);
	return err;
}

long sys_rename(const char *from, const char *to)
{
	return rename_names(AT_FDCWD, from, AT_FDCWD, to, 0);
}

long sys_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return rename_names(from_dir, from, to_dir, to, 0);
}

long sys_renameat2(int from_dir, const char *from, int to_dir, const char *to, u32 flags)
{
	return flags & ~RENAME_NOREPLACE ? -EINVAL
					 : rename_names(from_dir, from, to_dir, to, flags);
}

static int with_path(const char *user, int (*call)(const char *path))
{
	struct user_path p;
	int err = path_begin(&p, AT_FDCWD, user);

	if (err)
		return err;
	err = call(p.name);
	path_end(&p);
	return err;
}

long sys_chdir(const char *user)
{
	return with_path(user, vfs_chdir);
}

long sys_chroot(const char *user)
{
	return is_root() ? with_path(user, vfs_chroot) : -EPERM;
}

long sys_fchdir(u32 fd)
{
	struct file *f = fd_place(fd);
	struct inode *old = current->cwd;

	if (!f)
		return -EBADF;
	if ((f->inode->mode & S_IFMT) != S_IFDIR)
		return -ENOTDIR;
	inode_get(f->inode);
	current->cwd = f->inode;
	if (old)
		inode_put(old);
	return 0;
}

long sys_getcwd(char *user, u32 size)
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	int n;

	if (!buf)
		return -ENOMEM;
	n = vfs_getcwd(buf, MIN(size, (u32)PATH_MAX));
	if (n > 0 && copy_to_user(user, buf, n))
		n = -EFAULT;
	kfree(buf);
	return n;
}

long sys_getdents64(u32 fd, void *buf, u32 n)
{
	struct file *f = fd_file(fd);

	return f ? vfs_getdents64(f, buf, n) : -EBADF;
}

static long read_link(struct user_path *p, char *user, u32 size)
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	int n;

	if (!buf)
		return -ENOMEM;
	n = vfs_readlink(p->name, buf, MIN(size, (u32)PATH_MAX));
	if (n > 0 && copy_to_user(user, buf, n))
		n = -EFAULT;
	kfree(buf);
	return n;
}

long sys_readlinkat(int dirfd, const char *path, char *user, s32 size)
{
	struct user_path p;
	long n;

	if (size <= 0)
		return -EINVAL;
	n = path_begin(&p, dirfd, path);
	if (n)
		return n;
	n = read_link(&p, user, size);
	path_end(&p);
	return n;
}

long sys_readlink(const char *path, char *user, s32 size)
{
	return sys_readlinkat(AT_FDCWD, path, user, size);
}

/* Every process runs as root. So access is denied only to execute a file without an execute bit, or
 * to write on a read-only file system. */
long sys_faccessat2(int dirfd, const char *user, u32 mode, u32 flags)
{
	struct inode *inode;
	u32 kind;
	int err;

	if (mode & ~(X_OK | W_OK | R_OK))
		return -EINVAL;
	err = inode_at(dirfd, user, flags & ~AT_EACCESS, &inode);
	if (err)
		return err;
	kind = inode->mode & S_IFMT;
	if (mode & X_OK && !(inode->mode & 0111) && kind != S_IFDIR)
		err = -EACCES;
	else if (mode & W_OK && inode->sb->read_only && (kind == S_IFREG || kind == S_IFDIR))
		err = -EROFS;
	inode_put(inode);
	return err;
}

long sys_faccessat(int dirfd, const char *user, u32 mode)
{
	return sys_faccessat2(dirfd, user, mode, 0);
}

long sys_access(const char *user, u32 mode)
{
	return sys_faccessat(AT_FDCWD, user, mode);
}

long sys_umask(u32 mask)
{
	u32 old = current->umask;

	current->umask = mask & 0777;
	return old;
}
