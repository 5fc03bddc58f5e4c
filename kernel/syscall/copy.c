/*
 * System calls that copy from one open file to another: sendfile and copy_file_range.
 *
 * The operations of files move data only to and from user memory. So a copy maps a few pages of
 * anonymous memory in the program for as long as it lasts, reads into them and writes from them.
 * File systems need no further operation, and the pages can be evicted like others. A program saves
 * system calls, but no copying.
 */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"
#include "mm/mm.h"
#include "sched/current.h"

#define ROOM (4 * PAGE_SIZE)
#define MAX_COUNT 0x7ffff000u /* limit of one call, as on Linux */

/* One side of a copy. */
struct side {
	struct file *file;
	u64 pos; /* copied from the program or from the file */
	bool stays; /* the program gave the position: the file's own does not change */
	bool streams; /* the file has no position */
};

static bool is_kind(const struct side *s, u32 kind)
{
	return (s->file->inode->mode & S_IFMT) == kind;
}

static long write_out(struct side *to, void *room, u32 n)
{
	if (to->streams)
		return vfs_write(to->file, room, n);
	return vfs_write_at(to->file, room, n, &to->pos);
}

/* Copies up to n bytes through `room`. Stops at a partial write. Returns an error only if nothing was
 * copied before it. */
static long move(struct side *from, struct side *to, void *room, u32 n)
{
	u32 done = 0;
	long moved = 0;

	while (done < n && !fatal_signal_pending(current)) {
		u64 pos = from->pos;
		long got = vfs_read_at(from->file, room, MIN(n - done, ROOM), &pos);

		if (got <= 0) {
			moved = got;
			break;
		}
		moved = write_out(to, room, got);
		if (moved <= 0)
			break;
		from->pos += moved;
		done += moved;
		if (moved < got)
			break;
	}
	return done ? (long)done : moved;
}

static long copy(struct side *from, struct side *to, u32 n)
{
	long room = do_mmap(current->mm, 0, ROOM, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0);
	long done;

	if (room < 0 && room >= -4095)
		return room;
	done = move(from, to, (void *)room, MIN(n, MAX_COUNT));
	do_munmap(current->mm, room, ROOM);
	if (done > 0 && !from->stays)
		from->file->pos = from->pos;
	if (done > 0 && !to->stays && !to->streams)
		to->file->pos = to->pos;
	return done;
}

/* Starts a side at the position that the program gives, or at the file's. */
static int begin(struct side *s, u32 fd, const u64 *user)
{
	s->file = fd_file(fd);
	if (!s->file)
		return -EBADF;
	s->pos = s->file->pos;
	s->stays = user != NULL;
	s->streams = is_kind(s, S_IFIFO) || (is_kind(s, S_IFCHR) && !user);
	if (user && copy_from_user(&s->pos, user, sizeof(s->pos)))
		return -EFAULT;
	return user && (s64)s->pos < 0 ? -EINVAL : 0;
}

static long send(u32 out, u32 in, u64 *pos, u32 n)
{
	struct side from, to;
	int err = begin(&from, in, NULL) ?: begin(&to, out, NULL);
	long done;

	if (err)
		return err;
	if (!file_may_read(from.file) || !file_may_write(to.file))
		return -EBADF;
	if (pos && from.streams)
		return -ESPIPE;
	if (pos) {
		from.stays = true;
		from.pos = *pos;
	}
	if ((!is_kind(&from, S_IFREG) && !is_kind(&from, S_IFBLK)) || to.file->flags & O_APPEND ||
	    (s64)from.pos < 0)
		return -EINVAL;
	done = copy(&from, &to, n);
	if (pos)
		*pos = from.pos;
	return done;
}

long sys_sendfile64(u32 out, u32 in, u64 *user, u32 n)
{
	u64 pos = 0;
	long done;

	if (user && copy_from_user(&pos, user, sizeof(pos)))
		return -EFAULT;
	done = send(out, in, user ? &pos : NULL, n);
	return user && copy_to_user(user, &pos, sizeof(pos)) ? -EFAULT : done;
}

long sys_sendfile(u32 out, u32 in, s32 *user, u32 n)
{
	s32 small = 0;
	u64 pos;
	long done;

	if (user && copy_from_user(&small, user, sizeof(small)))
		return -EFAULT;
	pos = (s64)small;
	if (small >= 0)
		n = MIN(n, (u32)INT32_MAX - small); /* the position must stay a 32-bit one */
	done = send(out, in, user ? &pos : NULL, n);
	small = pos;
	return user && copy_to_user(user, &small, sizeof(small)) ? -EFAULT : done;
}

static int check_range(const struct side *from, const struct side *to, u32 n)
{
	if (is_kind(from, S_IFDIR) || is_kind(to, S_IFDIR))
		return -EISDIR;
	if (!is_kind(from, S_IFREG) || !is_kind(to, S_IFREG))
		return -EINVAL;
	if (!file_may_read(from->file) || !file_may_write(to->file) || to->file->flags & O_APPEND)
		return -EBADF;
	if (from->file->inode->sb != to->file->inode->sb)
		return -EXDEV;
	if (from->pos + n < from->pos || to->pos + n < to->pos)
		return -EOVERFLOW;
	if (from->file->inode == to->file->inode && from->pos < to->pos + n &&
	    to->pos < from->pos + n)
		return -EINVAL;
	return 0;
}

long sys_copy_file_range(u32 in, u64 *in_pos, u32 out, u64 *out_pos, u32 n, u32 flags)
{
	struct side from, to;
	long done;
	int err;

	err = flags ? -EINVAL : begin(&from, in, in_pos) ?: begin(&to, out, out_pos);
	n = MIN(n, MAX_COUNT);
	if (!err && from.pos < from.file->inode->size) /* the range ends with the file */
		n = MIN(n, from.file->inode->size - from.pos);
	if (!err)
		err = check_range(&from, &to, n);
	if (err)
		return err;
	done = copy(&from, &to, n);
	if (in_pos && done > 0 && copy_to_user(in_pos, &from.pos, sizeof(from.pos)))
		return -EFAULT;
	if (out_pos && done > 0 && copy_to_user(out_pos, &to.pos, sizeof(to.pos)))
		return -EFAULT;
	return done;
}
