/*
 * Modelled disks: a store in RAM whose requests take as long as a disk's would. How one is
 * described on the command line, and the model: drivers/simdisk.c.
 */
#ifndef DRIVERS_SIMDISK_H
#define DRIVERS_SIMDISK_H

#include "types.h"

struct block_device;
struct mem_range;

#define SIMDISK_PREFIX "sim:"
#define SIMDISK_SPEC_MAX 96 /* bytes of a description, with its end */

enum simdisk { SIMDISK_SWAP, SIMDISK_DATA, NR_SIMDISKS };

/* Takes "sim:..." as the disk's description. NULL, or what is wrong with it. */
const char *simdisk_parse(enum simdisk which, const char *spec);

/* Bytes asked for by size=; 0: all there is above mem=. */
u64 simdisk_size(enum simdisk which);

/* Where the data of sda lie; start == end: there is no such disk. */
struct mem_range simdisk_image(void);

/* Less than a page between a frame and the store. */
void copy_sectors(void *to, const void *from, u32 n);

/*
 * Puts the disk into [start, end) of memory, and registers it; NULL: it is too small, or less than
 * was asked for. Boot only.
 */
struct block_device *simdisk_open(enum simdisk which, u64 start, u64 end);

#endif
