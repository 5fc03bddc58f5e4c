/* Which disk the swap area is on: the parameter swap=. */
#ifndef DRIVERS_SWAPDISK_H
#define DRIVERS_SWAPDISK_H

#include "types.h"

struct block_device;

/* Is it the modelled disk, whose data lie in memory above mem=? */
bool swapdisk_in_memory(void);

/*
 * Finds the disk and returns its size in pages; 0: swap=none. While memory is being set up, after
 * disks_find. When there is no such disk the machine ends, and says what there is.
 */
u32 swapdisk_find(void);

/* Prints what was found, and returns it; NULL: swap=none, or a partition. */
struct block_device *swapdisk_open(void);
/* The same for a partition, after disks_scan; NULL: swap= names none. */
struct block_device *swapdisk_open_partition(void);

#endif
