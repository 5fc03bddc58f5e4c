/*
 * Modelled disks: a store in RAM whose requests take as long as on a real disk. The description on
 * the command line and the model: drivers/simdisk.c.
 */
#ifndef DRIVERS_SIMDISK_H
#define DRIVERS_SIMDISK_H

#include "types.h"

struct block_device;
struct mem_range;

#define SIMDISK_PREFIX "sim:"
#define SIMDISK_SIZE_MIN (64u << 10)
#define SIMDISK_SPEC_MAX 96 /* bytes of a description, with the NUL */

enum simdisk { SIMDISK_SWAP, SIMDISK_DATA, SIMDISK_DATA_2, NR_SIMDISKS }; /* sim, sda, sdb */

/* A request takes latency + (if the head must move: seek + rotation) + its pages * transfer. */
struct disk_model {
	u32 seek, rotation, transfer, latency; /* us; transfer per page */
	u64 size;         /* bytes; 0: all memory above mem= */
	u64 at;    /* start of the image; the cache's memory follows it */
	u64 cache; /* bytes; 0: none */
};

/* drivers/simdisk.c. The disk's model, as it is or before simdisk_open as it shall be. */
const struct disk_model *simdisk_model(enum simdisk which);
void simdisk_set_model(enum simdisk which, const struct disk_model *model);

/* drivers/simdisk_spec.c. Sets the disk's model to "sim:...". Returns NULL, or an error message. */
const char *simdisk_parse(enum simdisk which, const char *spec);

/* Returns the memory range of the data of sda or sdb. start == end: there is no such disk. */
struct mem_range simdisk_image(enum simdisk which);

/* Copies n bytes, less than a page, between a frame and the store. */
void copy_sectors(void *to, const void *from, u32 n);

/*
 * Creates and registers the disk in [start, end) of memory. Returns NULL if the range is too small,
 * or smaller than requested. Boot only.
 */
struct block_device *simdisk_open(enum simdisk which, u64 start, u64 end);

#endif
