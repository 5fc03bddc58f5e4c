/* System calls that lock files: fcntl's record locks, in both layouts of the ABI, and flock. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/lock.h"
#include "fs/files.h"
#include "internal.h"

enum { F_GETLK = 5, F_SETLK, F_SETLKW, F_GETLK64 = 12, F_SETLK64, F_SETLKW64 };
enum { F_RDLCK, F_WRLCK, F_UNLCK };
enum { LOCK_SH = 1, LOCK_EX = 2, LOCK_NB = 4, LOCK_UN = 8 };

struct flock32 {
	s16 type, whence;
	s32 start, len;
	s32 pid;
};

struct flock64 {
	s16 type, whence;
	s64 start, len;
	s32 pid;
} __attribute__((packed));

STATIC_ASSERT(sizeof(struct flock32) == 16 && sizeof(struct flock64) == 24);

static int get_flock(struct flock64 *l, const void *user, bool large)
{
	struct flock32 s;

	if (large)
		return copy_from_user(l, user, sizeof(*l));
	if (copy_from_user(&s, user, sizeof(s)))
		return -EFAULT;
	*l = (struct flock64){ s.type, s.whence, s.start, s.len, s.pid };
	return 0;
}

static int put_flock(const struct flock64 *l, void *user, bool large)
{
	struct flock32 s = { l->type, l->whence, l->start, l->len, l->pid };

	if (large)
		return copy_to_user(user, l, sizeof(*l));
	if (l->start > INT32_MAX || l->len > INT32_MAX)
		return -EOVERFLOW;
	return copy_to_user(user, &s, sizeof(s));
}

/* Stores the file offset where the range begins. Returns 0, -EINVAL or -EOVERFLOW. */
static int find_start(const struct file *f, const struct flock64 *l, s64 *start)
{
	s64 base = 0;

	if (l->whence == SEEK_CUR)
		base = f->pos;
	else if (l->whence == SEEK_END)
		base = f->inode->size;
	else if (l->whence != SEEK_SET)
		return -EINVAL;
	return __builtin_add_overflow(base, l->start, start) ? -EOVERFLOW : 0;
}

static int make_record(const struct file *f, const struct flock64 *l, struct record *r)
{
	s64 start, last = LOCK_LAST;
	int err = find_start(f, l, &start);

	if (err)
		return err;
	if (l->len < 0) {
		last = start - 1;
		start += l->len;
	} else if (l->len && __builtin_add_overflow(start, l->len - 1, &last)) {
		return -EOVERFLOW;
	}
	if (start < 0 || l->type < F_RDLCK || l->type > F_UNLCK)
		return -EINVAL;
	*r = (struct record){ .unlock = l->type == F_UNLCK, .write = l->type == F_WRLCK };
	r->start = start;
	r->last = last;
	return 0;
}

static int test(struct file *f, struct flock64 *l, struct record *r)
{
	if (r->unlock)
		return -EINVAL;
	record_test(f, r);
	if (r->unlock) {
		l->type = F_UNLCK;
		return 0;
	}
	*l = (struct flock64){ r->write ? F_WRLCK : F_RDLCK, SEEK_SET, r->start,
			       r->last == LOCK_LAST ? 0 : r->last - r->start + 1, r->pid };
	return 0;
}

/* A read lock needs a file open for reading, a write lock one open for writing. */
static bool may_lock(const struct file *f, const struct record *r)
{
	return r->unlock || (r->write ? file_may_write(f) : file_may_read(f));
}

bool fcntl_is_lock(u32 cmd)
{
	return (cmd >= F_GETLK && cmd <= F_SETLKW) || (cmd >= F_GETLK64 && cmd <= F_SETLKW64);
}

long fcntl_lock(struct file *f, u32 cmd, void *user)
{
	bool large = cmd >= F_GETLK64;
	struct flock64 l;
	struct record r;
	int err;

	if (large)
		cmd -= F_GETLK64 - F_GETLK;
	if (get_flock(&l, user, large))
		return -EFAULT;
	err = make_record(f, &l, &r);
	if (err)
		return err;
	if (cmd == F_GETLK) {
		err = test(f, &l, &r);
		return err ? err : put_flock(&l, user, large);
	}
	return may_lock(f, &r) ? record_set(f, &r, cmd == F_SETLKW) : -EBADF;
}

long sys_flock(u32 fd, u32 op)
{
	struct file *f = fd_file(fd);
	u32 kind = op & ~LOCK_NB;

	if (!f)
		return -EBADF;
	if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN)
		return -EINVAL;
	return file_flock(f, kind == LOCK_UN, kind == LOCK_EX, !(op & LOCK_NB));
}
