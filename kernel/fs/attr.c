/* File metadata read and changed by programs: mode, owner, times, size. */
#include "internal.h"

#include "fs/gate.h"
#include "mm/mm.h"

void inode_settle_times(struct inode *inode)
{
	u64 cycles = clock_stamp(), ns = clock_realtime_ns();
	u64 accessed = inode->accessed, modified = inode->modified, changed = inode->changed;

	changed = MAX(changed, modified);
	if (accessed)
		inode->atime_ns = ns - cycles_to_ns(cycles - accessed);
	if (modified)
		inode->mtime_ns = ns - cycles_to_ns(cycles - modified);
	if (changed)
		inode->ctime_ns = ns - cycles_to_ns(cycles - changed);
	inode->accessed = inode->modified = inode->changed = 0;
}

static u64 blocks_of(const struct inode *inode)
{
	if (inode->state & INODE_STORED)
		return inode->blocks;
	return (u64)(inode->cache.nr_pages + inode->cache.nr_swapped) * (PAGE_SIZE / 512);
}

void vfs_stat(struct inode *inode, struct kstat *st)
{
	if (inode->accessed | inode->modified | inode->changed)
		inode_settle_times(inode);
	*st = (struct kstat){
		.dev = inode->sb->dev,
		.ino = inode->ino,
		.mode = inode->mode,
		.nlink = inode->nlink,
		.rdev = inode->rdev,
		.uid = inode->uid,
		.gid = inode->gid,
		.blksize = inode->sb->block_size,
		.size = inode->size,
		.blocks = blocks_of(inode),
		.atime_ns = inode->atime_ns,
		.mtime_ns = inode->mtime_ns,
		.ctime_ns = inode->ctime_ns,
	};
}

static int may_change(const struct inode *inode)
{
	if (inode->sb == &proc_sb)
		return -EPERM;
	return super_may_change(inode->sb);
}

int vfs_chmod(struct inode *inode, u32 mode)
{
	int err = may_change(inode);

	if (err)
		return err;
	if (inode_is_link(inode))
		return -EOPNOTSUPP;
	inode->mode = (inode->mode & S_IFMT) | (mode & 07777);
	inode_changed(inode);
	return 0;
}

int vfs_chown(struct inode *inode, u32 uid, u32 gid)
{
	int err = may_change(inode);

	if (err)
		return err;
	if (uid != KEEP_ID)
		inode->uid = uid;
	if (gid != KEEP_ID)
		inode->gid = gid;
	if (!inode_is_dir(inode) && inode->mode & 0111) /* as on Linux: a new owner clears setuid */
		inode->mode &= ~(S_ISUID | (inode->mode & 010 ? S_ISGID : 0));
	inode_changed(inode);
	return 0;
}

static void set_time(u64 *ns, u64 to, u64 now)
{
	if (to != TIME_KEEP)
		*ns = to == TIME_NOW ? now : to;
}

int vfs_utimes(struct inode *inode, u64 atime_ns, u64 mtime_ns)
{
	int err = may_change(inode);
	u64 now = clock_realtime_ns();

	if (err)
		return err;
	if (atime_ns == TIME_KEEP && mtime_ns == TIME_KEEP)
		return 0;
	inode_settle_times(inode);
	set_time(&inode->atime_ns, atime_ns, now);
	set_time(&inode->mtime_ns, mtime_ns, now);
	inode_changed(inode);
	return 0;
}

bool inode_runs(const struct inode *inode)
{
	struct interval *i;

	for_each_interval(i, &inode->cache.regions, 0, ~0u) {
		struct vm_area_struct *vma = rb_entry(i, struct vm_area_struct, mapping);

		if (vma->start <= vma->mm->start_code && vma->mm->start_code < vma->end)
			return true;
	}
	return false;
}

/* Changes the size. The caller holds inode->lock. */
static int truncate_locked(struct inode *inode, u64 size)
{
	int err;

	if (size < inode->size) {
		inode->size = size; /* from now on no fault brings in pages beyond */
		cache_truncate(inode, size);
	} else {
		cache_clear_tail(inode); /* bytes that a mapping has written beyond the old end */
	}
	err = inode->ops->truncate(inode, size);
	if (!err) {
		inode->size = size;
		inode_touch(inode);
	}
	return err;
}

int vfs_truncate(struct inode *inode, u64 size)
{
	int err;

	if (inode_is_dir(inode))
		return -EISDIR;
	if (!inode_is_reg(inode) || !inode->ops->truncate)
		return -EINVAL;
	if (super_may_change(inode->sb))
		return -EROFS;
	if (size > CACHE_MAX_SIZE || (inode->sb->max_size && size > inode->sb->max_size))
		return -EFBIG;
	if (inode->state & INODE_SWAP || inode_runs(inode))
		return -ETXTBSY;
	if (size > inode->size && fsize_check(inode, size - 1, NULL))
		return -EFBIG;
	inode_count_writers(inode, 1);
	mutex_lock(&inode->lock);
	log_begin(inode->sb);
	err = truncate_locked(inode, size);
	log_end(inode->sb, err);
	mutex_unlock(&inode->lock);
	inode_count_writers(inode, -1);
	return err;
}
