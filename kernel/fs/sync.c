/* Writing a file, or a file system's metadata, to its device on request. */
#include "internal.h"

int vfs_fsync(struct file *f)
{
	struct inode *inode = f->inode;
	int err, err2;

	if (!inode_is_reg(inode) && !inode_is_dir(inode))
		return f->fops->sync ? f->fops->sync(f) : -EINVAL;
	err = cache_sync_file(f);
	err2 = inode_sync(inode, false);
	err = err ? err : err2;
	err2 = inode->state & INODE_STORED ? inode->sb->ops->flush(inode->sb) : 0;
	return err ? err : err2;
}
