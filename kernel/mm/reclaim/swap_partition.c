/* The swap area of swap=, if it is a partition: its disk can be read now. */
#include "drivers/swapdisk.h"
#include "lib/stages.h"
#include "swap_internal.h"

static void swap_on_partition(void)
{
	struct block_device *bdev = swapdisk_open_partition();

	if (bdev)
		swap_on(bdev);
}

AT_STAGE(disks, 30, swap_on_partition);
