/* Shared by the files of syscall/: paths from user memory, and times in the ABI's layouts. */
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
	struct inode *cwd; /* current's own, while replaced for a call */
	bool lent;
};

/*
 * Copies the path in. Until path_end, relative paths of current start at dirfd. Returns 0, -EFAULT,
 * -ENAMETOOLONG, -ENOENT (empty), -ENOMEM, -EBADF or -ENOTDIR (dirfd). After an error do not call
 * path_end.
 */
int path_begin(struct user_path *p, int dirfd, const char *user);
void path_end(struct user_path *p);

/* Copies in a path, to be freed by path_free. Returns 0 or -errno. */
int path_copy(const char *user, char **name);
void path_free(const char *name);
/* Stores the inode where a path starts; NULL: the working directory or the root. Returns 0, -EBADF
 * or -ENOTDIR. */
int path_base(int dirfd, const char *name, struct inode **base);

/* place.c: like path_begin, but leaves the working directory as it is: for calls with two names. */
struct path_at;
int place_begin(struct path_at *p, int dirfd, const char *user);
void place_end(struct path_at *p);

/* Stores the inode of a path, with a reference, or of a descriptor if AT_EMPTY_PATH is given and
 * the path is empty. Returns 0, or -errno; -EINVAL for flags other than AT_SYMLINK_NOFOLLOW and
 * AT_EMPTY_PATH. */
int inode_at(int dirfd, const char *user, u32 flags, struct inode **inode);

/* Is the effective user of current root? */
bool is_root(void);

/* Does RLIMIT_AS forbid current this many bytes of memory more? Does it, or RLIMIT_DATA, forbid that break? */
bool limit_forbids(u32 bytes);
bool limit_forbids_brk(u32 addr);

/* The locking commands of fcntl. */
struct file;
bool fcntl_is_lock(u32 cmd);
long fcntl_lock(struct file *f, u32 cmd, void *user);

struct timespec32 {
	s32 sec, nsec;
};

struct timespec64 {
	s64 sec, nsec;
};

/* Converts to nanoseconds, limited to what a u64 holds. Returns -1 for an invalid time. */
s64 timespec_ns(s64 sec, s64 nsec);
/* Returns the seconds, and the rest in *nsec. Fast for times in the last converted second. */
u32 split_ns(u64 ns, u32 *nsec);

#endif
