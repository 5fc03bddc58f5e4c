/* The disk of the swap area: the parameter swap=. */
#ifndef DRIVERS_SWAPDISK_H
#define DRIVERS_SWAPDISK_H

#include "types.h"

struct block_device;

/* Returns true for the modelled disk, whose data lie in memory above mem=. */
bool swapdisk_in_memory(void);

/*
 * Finds the disk and returns its size in pages; 0: swap=none. Called while memory is being set up,
 * after disks_find. If there is no such disk, prints the existing ones and ends the machine.
 */
u32 swapdisk_find(void);

/* Prints and returns the disk found. Returns NULL for swap=none or a partition. */
struct block_device *swapdisk_open(void);
/* Like swapdisk_open, for a partition; call it after the partition tables have been read. Returns NULL if
 * swap= names no partition. */
struct block_device *swapdisk_open_partition(void);

#endif
