/*
 * Reading directories.
 *
 * A position in a directory is the cookie of the next entry. It grows with every new entry and is
 * never reused, so entries created or removed during a read neither hide others nor make them
 * appear twice. 0 and 1 are "." and "..". Positions from DYNAMIC on are cursors of the directory's
 * iterate operation.
 *
 * Records are collected in a kernel buffer while the directory is locked, since iterate may sleep,
 * and are then copied out at once.
 */
#include "internal.h"

#include "arch/uaccess.h"
#include "lib/string.h"
#include "mm/slab.h"

#define DYNAMIC (1u << 30)
#define BUFFER_MAX 4096u

/* The layout of getdents64. */
struct linux_dirent64 {
	u64 ino;
	u64 off; /* position of the following entry */
	u16 reclen;
	u8 type;
	char name[];
} __attribute__((packed));

STATIC_ASSERT(offsetof(struct linux_dirent64, name) == 19);

struct reader {
	char *buf;
	u32 size, used; /* bytes */
	u64 pos;        /* of the next entry */
};

/* Adds a record. next: the position after it. Returns false if the buffer is full. */
static bool emit(struct reader *r, u32 ino, u32 mode, const char *name, u64 next)
{
	struct linux_dirent64 *d = (void *)(r->buf + r->used);
	u32 len = strlen(name) + 1;
	u32 reclen = ALIGN_UP(sizeof(*d) + len, 8u);

	if (reclen > r->size - r->used)
		return false;
	memset(d, 0, reclen);
	d->ino = ino;
	d->off = next;
	d->reclen = reclen;
	d->type = mode >> 12;
	memcpy(d->name, name, len);
	r->used += reclen;
	r->pos = next;
	return true;
}

static u32 ino_above(const struct inode *dir)
{
	if (dir->sb->root == dir && dir->sb->mounted_on)
		dir = dir->sb->mounted_on;
	return dir->parent ? dir->parent->ino : dir->ino;
}

static bool read_dots(struct inode *dir, struct reader *r)
{
	if (r->pos == 0 && !emit(r, dir->ino, S_IFDIR, ".", 1))
		return false;
	return r->pos != 1 || emit(r, ino_above(dir), S_IFDIR, "..", 2);
}

/* Entries held in the dcache. Returns false if the buffer is full. */
static bool read_static(struct inode *dir, struct reader *r)
{
	struct dentry *d;

	if (!read_dots(dir, r))
		return false;
	if (dir->state & INODE_STORED) {
		r->pos = DYNAMIC;
		return true;
	}
	list_for_each_entry(d, &dir->entries, node) {
		if (d->cookie < r->pos)
			continue;
		if (!emit(r, d->inode->ino, d->inode->mode, d->name, d->cookie + 1))
			return false;
	}
	r->pos = DYNAMIC;
	return true;
}

/* Entries from ->iterate(). Returns 1 at the end, 0 if the buffer is full, or -errno. */
static int read_dynamic(struct inode *dir, struct reader *r)
{
	struct dir_entry e;
	int err;

	while (!(err = dir->ops->iterate(dir, r->pos - DYNAMIC, &e)))
		if (!emit(r, e.ino, e.mode, e.name, DYNAMIC + e.next))
			return 0;
	return err == -ENOENT ? 1 : err;
}

/* Returns 1 at the end, 0 if the buffer is full, or -errno. */
static int read_entries(struct inode *dir, struct reader *r)
{
	int ret = 1;

	if (!dir->nlink)
		return 1;
	if (r->pos < DYNAMIC && !read_static(dir, r))
		return 0;
	if (!dir->ops->iterate)
		return 1;
	mutex_lock(&dir->lock);
	if (dir->nlink)
		ret = read_dynamic(dir, r);
	mutex_unlock(&dir->lock);
	return ret;
}

long vfs_getdents64(struct file *f, void *user, size_t n)
{
	struct inode *dir = f->inode;
	struct reader r = { .size = MIN(n, BUFFER_MAX), .pos = f->pos };
	int end;
	long ret;

	if (!inode_is_dir(dir))
		return -ENOTDIR;
	r.buf = kmalloc(BUFFER_MAX, GFP_KERNEL);
	if (!r.buf)
		return -ENOMEM;
	inode_note_read(dir);
	end = read_entries(dir, &r);
	ret = end > 0 || r.used ? (long)r.used : end ? end : -EINVAL;
	if (r.used && copy_to_user(user, r.buf, r.used))
		ret = -EFAULT;
	if (ret >= 0)
		f->pos = r.pos;
	kfree(r.buf);
	return ret;
}
