/* System calls on whole file systems, and on data not yet written to a device. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"
#include "internal.h"
#include "lib/string.h"
#include "mm/slab.h"

#define NAME_ROOM 64u    /* for a type or a source */
#define OPTIONS_ROOM 256u
#define UMOUNT_FORCE 1u
#define UMOUNT_NOFOLLOW 8u

/* Copies in a string; user may be NULL. */
static int get_string(char *to, const char *user, size_t room)
{
	int n;

	*to = '\0';
	if (!user)
		return 0;
	n = strncpy_from_user(to, user, room);
	if (n == -ENAMETOOLONG)
		return -EINVAL;
	return n < 0 ? n : 0;
}

long sys_mount(const char *source, const char *path, const char *type, u32 flags, const void *data)
{
	char what[NAME_ROOM], kind[NAME_ROOM], options[OPTIONS_ROOM];
	struct user_path p;
	int err = get_string(what, source, sizeof(what));

	if (!err)
		err = get_string(kind, type, sizeof(kind));
	if (!err)
		err = get_string(options, data, sizeof(options));
	if (!err)
		err = path_begin(&p, AT_FDCWD, path);
	if (err)
		return err;
	err = vfs_mount(*what ? what : "none", p.name, kind, flags, options);
	path_end(&p);
	return err;
}

/* UMOUNT_FORCE has no effect: a file system in use is not unmounted. There is no lazy unmount. */
long sys_umount2(const char *path, u32 flags)
{
	struct user_path p;
	int err;

	if (flags & ~(UMOUNT_FORCE | UMOUNT_NOFOLLOW))
		return -EINVAL;
	err = path_begin(&p, AT_FDCWD, path);
	if (err)
		return err;
	err = vfs_umount(p.name, !(flags & UMOUNT_NOFOLLOW));
	path_end(&p);
	return err;
}

long sys_umount(const char *path)
{
	return sys_umount2(path, 0);
}

/* Linux's struct statfs and statfs64 of i386. */
struct statfs32 {
	u32 type, bsize, blocks, bfree, bavail, files, ffree, fsid[2], namelen, frsize, flags;
	u32 spare[4];
};

struct statfs64 {
	u32 type, bsize;
	u64 blocks, bfree, bavail, files, ffree;
	u32 fsid[2], namelen, frsize, flags;
	u32 spare[4];
} __attribute__((packed));

STATIC_ASSERT(sizeof(struct statfs32) == 64 && sizeof(struct statfs64) == 84);

#define ST_RDONLY 1u
#define ST_VALID 0x20u
#define ST_RELATIME 0x1000u

static u32 flags_of(const struct inode *inode)
{
	return ST_VALID | ST_RELATIME | (inode->sb->read_only ? ST_RDONLY : 0);
}

/* The two structures differ only in the width of some members. */
#define STATFS(st, inode)                                                                          \
	{ .type = (st)->magic,                                                                     \
	  .bsize = (st)->block_size,                                                               \
	  .blocks = (st)->blocks,                                                                  \
	  .bfree = (st)->blocks_free,                                                              \
	  .bavail = (st)->blocks_available,                                                        \
	  .files = (st)->files,                                                                    \
	  .ffree = (st)->files_free,                                                               \
	  .fsid = { (inode)->sb->dev },                                                            \
	  .namelen = NAME_MAX,                                                                     \
	  .frsize = (st)->block_size,                                                              \
	  .flags = flags_of(inode) }

static int put_statfs(struct inode *inode, void *user)
{
	struct kstatfs st;
	struct statfs32 s;
	int err = vfs_statfs(inode, &st);

	if (err)
		return err;
	if ((st.blocks | st.files) >> 32)
		return -EOVERFLOW;
	s = (struct statfs32)STATFS(&st, inode);
	return copy_to_user(user, &s, sizeof(s));
}

static int put_statfs64(struct inode *inode, void *user)
{
	struct kstatfs st;
	struct statfs64 s;
	int err = vfs_statfs(inode, &st);

	if (err)
		return err;
	s = (struct statfs64)STATFS(&st, inode);
	return copy_to_user(user, &s, sizeof(s));
}

long sys_statfs(const char *path, void *user)
{
	struct inode *inode;
	int err = inode_at(AT_FDCWD, path, 0, &inode);

	if (err)
		return err;
	err = put_statfs(inode, user);
	inode_put(inode);
	return err;
}

long sys_fstatfs(u32 fd, void *user)
{
	struct file *f = fd_place(fd);

	return f ? put_statfs(f->inode, user) : -EBADF;
}

/* Some C libraries count the padding at the end, some do not. */
static bool is_size(u32 size)
{
	return size == sizeof(struct statfs64) || size == sizeof(struct statfs64) + 4;
}

long sys_statfs64(const char *path, u32 size, void *user)
{
	struct inode *inode;
	int err = is_size(size) ? inode_at(AT_FDCWD, path, 0, &inode) : -EINVAL;

	if (err)
		return err;
	err = put_statfs64(inode, user);
	inode_put(inode);
	return err;
}

long sys_fstatfs64(u32 fd, u32 size, void *user)
{
	struct file *f = fd_place(fd);

	if (!is_size(size)) /* as on Linux, also of a closed file */
		return -EINVAL;
	return f ? put_statfs64(f->inode, user) : -EBADF;
}

long sys_sync(void)
{
	vfs_sync();
	return 0;
}

long sys_syncfs(u32 fd)
{
	struct file *f = fd_file(fd);

	return f ? vfs_syncfs(f->inode) : -EBADF;
}

long sys_fsync(u32 fd)
{
	struct file *f = fd_file(fd);

	return f ? vfs_fsync(f) : -EBADF;
}

static long advise(u32 fd, s64 from, s64 len, u32 advice)
{
	struct file *f = fd_file(fd);

	if (!f)
		return -EBADF;
	if ((f->inode->mode & S_IFMT) == S_IFIFO)
		return -ESPIPE;
	return from < 0 || len < 0 ? -EINVAL : cache_advise(f, from, len, advice);
}

long sys_fadvise64(u32 fd, u32 lo, u32 hi, u32 len, u32 advice)
{
	return advise(fd, (s64)((u64)hi << 32 | lo), (s32)len, advice);
}

long sys_fadvise64_64(u32 fd, u32 lo, u32 hi, u32 len_lo, u32 len_hi, u32 advice)
{
	return advise(fd, (s64)((u64)hi << 32 | lo), (s64)((u64)len_hi << 32 | len_lo), advice);
}
