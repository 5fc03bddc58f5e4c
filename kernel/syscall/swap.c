/* swapon(2) and swapoff(2). */
#include "arch/uaccess.h"
#include "calls.h"
#include "drivers/block.h"
#include "errno.h"
#include "internal.h"
#include "mm/swap.h"

/* The device of a path from user memory: 0, -ENOTBLK, or what is wrong with the path. */
static int device_at(const char *user, struct block_device **bdev)
{
	struct user_path p;
	int err = path_begin(&p, AT_FDCWD, user);

	if (err)
		return err;
	*bdev = bdev_find(p.name);
	path_end(&p);
	return *bdev ? 0 : -ENOTBLK;
}

long sys_swapon(const char *user, u32 flags)
{
	struct block_device *bdev;
	int err = device_at(user, &bdev);

	return err ? err : swap_area_on(bdev, flags);
}

long sys_swapoff(const char *user)
{
	struct block_device *bdev;
	int err = device_at(user, &bdev);

	return err ? err : swap_area_off(bdev);
}
