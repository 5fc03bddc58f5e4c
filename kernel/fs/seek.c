/* Positions in open files: lseek, and reading and writing at a given position. */
#include "internal.h"

/* Memory devices can seek; terminals and pipes cannot. */
static bool can_seek(const struct inode *inode)
{
	u32 kind = inode->mode & S_IFMT;

	if (likely(kind == S_IFREG))
		return true;
	return kind == S_IFDIR || kind == S_IFBLK || (kind == S_IFCHR && inode->rdev >> 8 == 1);
}

long vfs_read_at(struct file *f, void *user, size_t n, u64 *pos)
{
	return can_seek(f->inode) ? file_read_from(f, user, n, pos) : -ESPIPE;
}

long vfs_write_at(struct file *f, const void *user, size_t n, u64 *pos)
{
	return can_seek(f->inode) ? file_write_to(f, user, n, pos) : -ESPIPE;
}

int vfs_seek(struct file *f, long long offset, int whence, u64 *pos)
{
	long long base;

	if (whence < SEEK_SET || whence > SEEK_END)
		return -EINVAL;
	if (!can_seek(f->inode))
		return -ESPIPE;
	if (whence == SEEK_SET)
		base = 0;
	else if (whence == SEEK_CUR)
		base = f->pos;
	else
		base = f->inode->size;
	if (__builtin_add_overflow(base, offset, &base))
		return -EOVERFLOW;
	if (base < 0)
		return -EINVAL;
	f->pos = base;
	*pos = base;
	return 0;
}
