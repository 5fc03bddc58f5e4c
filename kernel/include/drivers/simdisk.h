/*
 * The modelled disk: a store in RAM whose requests take as long as a disk's would. How it is
 * described on the command line, and the model: drivers/simdisk.c.
 */
#ifndef DRIVERS_SIMDISK_H
#define DRIVERS_SIMDISK_H

#include "types.h"

struct block_device;
struct seq_file;

bool simdisk_wanted(void); /* is there to be one? */
u64 simdisk_size(void);    /* bytes asked for by size=; 0: all there is above mem= */

/* Puts the disk into the memory above mem=; NULL: swap=none. Panics when there is none. */
struct block_device *simdisk_init(void);

#endif
