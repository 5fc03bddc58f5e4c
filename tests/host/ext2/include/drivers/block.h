/* Stands in for the kernel's header until that has partitions. */
#ifndef DRIVERS_BLOCK_H
#define DRIVERS_BLOCK_H

#include "types.h"

#define SECTOR_SIZE 512u

struct block_device {
	const char *name;
	u32 dev, nr_sectors;
	bool read_only;
};

int block_flush(struct block_device *bdev);

#endif
