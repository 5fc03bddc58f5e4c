/* Reading, writing, ioctl and poll on open files: checks, then the file's operation. */
#include "internal.h"

#include "sched/current.h"

#define MAX_COUNT 0x7ffff000u /* limit of one call, as on Linux */

static long cannot_read(const struct file *f)
{
	if (f->flags & O_PATH)
		return -EBADF;
	return inode_is_dir(f->inode) ? -EISDIR : -EINVAL;
}

static inline long read_plain(struct file *f, void *user, size_t n, u64 *pos, bool direct)
{
	if (unlikely(!f->fops->read))
		return cannot_read(f);
	if (unlikely(f->inode->state & INODE_READ_DUE) && !(f->flags & O_NOATIME))
		inode_accessed(f->inode);
	n = MIN(n, MAX_COUNT);
	return direct ? cache_direct_read(f, user, n, pos) : f->fops->read(f, user, n, pos);
}

/* The rare reads: file not open for reading, or O_DIRECT. */
static out_of_line long read_checked(struct file *f, void *user, size_t n, u64 *pos)
{
	if (!file_may_read(f))
		return -EBADF;
	return read_plain(f, user, n, pos, f->flags & O_DIRECT);
}

/* The rare writes: file not open for writing, O_DIRECT, a write that must reach the medium before it
 * returns, or a limit on the size of files. */
static out_of_line long write_checked(struct file *f, const void *user, size_t n, u64 *pos)
{
	long done;
	int err;

	if (!file_may_write(f))
		return -EBADF;
	if (!f->fops->write)
		return -EINVAL;
	err = fsize_check(f->inode, f->flags & O_APPEND ? f->inode->size : *pos, &n);
	if (err)
		return err;
	done = f->fops->write(f, user, n, pos);
	if (done <= 0 || !(f->flags & O_DSYNC) || !inode_is_reg(f->inode))
		return done;
	err = vfs_fsync(f);
	return err ? err : done;
}

inline long file_read_from(struct file *f, void *user, size_t n, u64 *pos)
{
	if (unlikely(f->flags & (O_WRONLY | O_DIRECT)))
		return read_checked(f, user, n, pos);
	return read_plain(f, user, n, pos, false);
}

inline long file_write_to(struct file *f, const void *user, size_t n, u64 *pos)
{
	u32 mode = f->flags & (O_ACCMODE | O_DIRECT | O_DSYNC);

	n = MIN(n, MAX_COUNT);
	if (unlikely((mode != O_WRONLY && mode != O_RDWR) ||
		     current->limits[RLIMIT_FSIZE].soft != RLIM_INFINITY))
		return write_checked(f, user, n, pos);
	return likely(f->fops->write) ? f->fops->write(f, user, n, pos) : -EINVAL;
}

long vfs_read(struct file *f, void *user, size_t n)
{
	return file_read_from(f, user, n, &f->pos);
}

long vfs_write(struct file *f, const void *user, size_t n)
{
	return file_write_to(f, user, n, &f->pos);
}

long vfs_ioctl(struct file *f, u32 cmd, u32 arg)
{
	return f->fops->ioctl ? f->fops->ioctl(f, cmd, arg) : -ENOTTY;
}

u32 file_poll(struct file *f)
{
	return f->fops->poll ? f->fops->poll(f) : POLLIN | POLLOUT;
}
