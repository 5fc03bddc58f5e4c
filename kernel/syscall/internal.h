/* What the files of syscall/ share: paths from user memory, and times in the ABI's layouts. */
#ifndef SYSCALL_INTERNAL_H
#define SYSCALL_INTERNAL_H

#include "types.h"

struct inode;

#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 0x100u
#define AT_REMOVEDIR 0x200u
#define AT_EACCESS 0x200u
#define AT_SYMLINK_FOLLOW 0x400u
#define AT_NO_AUTOMOUNT 0x800u
#define AT_EMPTY_PATH 0x1000u
#define AT_STATX_SYNC_TYPE 0x6000u
#define STATX_RESERVED 0x80000000u

/* A path from user memory, and the directory that it is relative to. */
struct user_path {
	char *name;
	struct inode *cwd; /* current's own, while another takes its place */
	bool lent;
};

/*
 * Copies the path in; until path_end, relative paths of current begin at dirfd. 0, -EFAULT,
 * -ENAMETOOLONG, -ENOENT (empty), -ENOMEM, -EBADF or -ENOTDIR (dirfd), with nothing to end.
 */
int path_begin(struct user_path *p, int dirfd, const char *user);
void path_end(struct user_path *p);

/* The same for calls on two names, without lending the working directory. */
struct path_at;
int place_begin(struct path_at *p, int dirfd, const char *user);
void place_end(struct path_at *p);

/* The inode of a path, or with AT_EMPTY_PATH and an empty one of a descriptor, with a reference; 0
 * or -errno. flags: AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH; others: -EINVAL. */
int inode_at(int dirfd, const char *user, u32 flags, struct inode **inode);

/* fcntl's commands that lock. */
struct file;
bool fcntl_is_lock(u32 cmd);
long fcntl_lock(struct file *f, u32 cmd, void *user);

/* As nanoseconds, limited to what a u64 holds; -1: not a valid time. */
s64 timespec_ns(s64 sec, s64 nsec);
/* Seconds and the rest; quick for times near the last one asked for. */
u32 split_ns(u64 ns, u32 *nsec);

#endif
