/*
 * Reading directories.
 *
 * A position in a directory is the cookie of the next entry, which grows with every entry made and
 * is never given twice; so entries that come and go while somebody reads neither hide the others
 * nor show them twice. 0 and 1 are "." and ".."; positions from DYNAMIC on belong to the iterate
 * hook.
 *
 * Records are collected in a kernel buffer, during which nothing sleeps and the directory stands
 * still, and then copied out at once.
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
	u64 off; /* position of the entry after this one */
	u16 reclen;
	u8 type;
	char name[];
} __attribute__((packed));

STATIC_ASSERT(offsetof(struct linux_dirent64, name) == 19);

struct reader {
	char *buf;
	u32 size, used; /* bytes */
	u32 pos;        /* the next entry's */
};

/* False: no room. next: the position after it. */
static bool emit(struct reader *r, u32 ino, u32 mode, const char *name, u32 next)
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

static bool read_static(struct inode *dir, struct reader *r)
{
	u32 up = dir->parent ? dir->parent->ino : dir->ino;
	struct dentry *d;

	if (r->pos == 0 && !emit(r, dir->ino, S_IFDIR, ".", 1))
		return false;
	if (r->pos == 1 && !emit(r, up, S_IFDIR, "..", 2))
		return false;
	list_for_each_entry(d, &dir->entries, node) {
		if (d->cookie < r->pos)
			continue;
		if (!emit(r, d->inode->ino, d->inode->mode, d->name, d->cookie + 1))
			return false;
	}
	r->pos = DYNAMIC;
	return true;
}

static bool read_dynamic(struct inode *dir, struct reader *r)
{
	char name[NAME_MAX + 1];
	u32 cursor = r->pos - DYNAMIC, ino, mode;

	while (!dir->iterate(dir, &cursor, name, &ino, &mode))
		if (!emit(r, ino, mode, name, DYNAMIC + cursor))
			return false;
	return true;
}

long vfs_getdents64(struct file *f, void *user, size_t n)
{
	struct inode *dir = f->inode;
	struct reader r = { .size = MIN(n, BUFFER_MAX), .pos = f->pos };
	bool end = true;
	long ret;

	if (!inode_is_dir(dir))
		return -ENOTDIR;
	r.buf = kmalloc(BUFFER_MAX, GFP_KERNEL);
	if (!r.buf)
		return -ENOMEM;
	if (r.pos < DYNAMIC)
		end = read_static(dir, &r);
	if (end && dir->iterate)
		end = read_dynamic(dir, &r);
	ret = end || r.used ? (long)r.used : -EINVAL;
	if (r.used && copy_to_user(user, r.buf, r.used))
		ret = -EFAULT;
	if (ret >= 0)
		f->pos = r.pos;
	kfree(r.buf);
	return ret;
}
