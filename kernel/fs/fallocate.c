/* fallocate: makes room for a range of a file, and with it a file larger. */
#include "internal.h"

int vfs_fallocate(struct inode *inode, u64 start, u64 end, bool keep_size)
{
	u64 old = inode->size;
	int err = 0;

	if (keep_size && end > ALIGN_UP(old, (u64)PAGE_SIZE))
		return -EOPNOTSUPP; /* room beyond the end */
	if (super_may_change(inode->sb))
		return -EROFS;
	if (!keep_size && end > old)
		err = vfs_truncate(inode, end);
	if (err)
		return err;
	inode_count_writers(inode, 1);
	err = cache_reserve(inode, start >> PAGE_SHIFT, (end - 1) >> PAGE_SHIFT);
	inode_count_writers(inode, -1);
	if (err && inode->size == end && end > old)
		vfs_truncate(inode, old);
	return err;
}
