/* swapon(2) and swapoff(2). */
#include "calls.h"
#include "drivers/block.h"
#include "errno.h"
#include "fs/vfs.h"
#include "internal.h"
#include "mm/swap.h"

#define FLAGS (SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK)

/* Stores the inode of a path from user memory, with a reference, and its block device or NULL. */
static int find(const char *user, struct inode **inode, struct block_device **bdev)
{
	struct user_path p;
	int err = path_begin(&p, AT_FDCWD, user);

	if (err)
		return err;
	err = vfs_lookup(p.name, true, inode);
	path_end(&p);
	if (err)
		return err;
	*bdev = ((*inode)->mode & S_IFMT) == S_IFBLK ? bdev_by_dev((*inode)->rdev) : NULL;
	return 0;
}

long sys_swapon(const char *user, u32 flags)
{
	struct block_device *bdev;
	struct inode *inode;
	int err;

	if (flags & ~FLAGS)
		return -EINVAL;
	err = find(user, &inode, &bdev);
	if (err)
		return err;
	err = bdev ? swap_area_on(bdev, flags) : swap_file_on(inode, flags);
	inode_put(inode);
	return err;
}

long sys_swapoff(const char *user)
{
	struct block_device *bdev;
	struct inode *inode;
	int err = find(user, &inode, &bdev);

	if (err)
		return err;
	err = bdev ? swap_area_off(bdev) : swap_file_off(inode);
	inode_put(inode);
	return err;
}
