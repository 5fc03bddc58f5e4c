/* The state of a modelled disk, shared by drivers/simdisk.c and drivers/simdisk_layout.c. */
#ifndef DRIVERS_SIMDISK_STATE_H
#define DRIVERS_SIMDISK_STATE_H

#include "drivers/disk.h"
#include "drivers/simdisk.h"

struct sim {
	struct disk disk;
	struct disk_model model;
	struct timer service; /* irq: runs until the active request is over */
	u32 first_pfn;
	u32 head;      /* irq: sector under the head */
	u32 first_us;  /* irq; with jitter=: extra time of the first request */
};

/* The operations that simdisk_open gives a disk. A parameter may wrap them before. */
extern const struct disk_ops *simdisk_ops;

#endif
