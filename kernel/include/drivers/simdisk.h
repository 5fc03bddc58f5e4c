/*
 * The modelled disk: a store in RAM whose requests take as long as a disk's would. How it is
 * described on the command line, and the model: drivers/simdisk.c.
 */
#ifndef DRIVERS_SIMDISK_H
#define DRIVERS_SIMDISK_H

#include "types.h"

struct block_device;

/* Takes "sim:..." as the disk's description. NULL, or what is wrong with it. */
const char *simdisk_parse(const char *spec);

u64 simdisk_size(void); /* bytes asked for by size=; 0: all there is above mem= */

/* Puts the disk into the memory above mem=; panics when there is none. Boot only. */
struct block_device *simdisk_open(const char *spec);

#endif
