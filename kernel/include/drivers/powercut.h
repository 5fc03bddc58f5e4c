/*
 * Cuts the power at a chosen write of the modelled file disk: which data are then on its medium,
 * and which were lost with its cache. Details in kernel/drivers/powercut.c.
 */
#ifndef DRIVERS_POWERCUT_H
#define DRIVERS_POWERCUT_H

#include "types.h"

struct request;

/* Returns the request number of cut=, or 0 for no power cut. */
u32 powercut_at(void);

/* Returns the bytes of memory that a cache of cache_bytes needs, in whole pages. */
u64 powercut_room(u64 cache_bytes);

/* Sets the frame where the disk's sectors begin, and the first frame of the room for its cache.
 * Boot only. */
void powercut_open(u32 store_pfn, u32 cache_pfn, u64 cache_bytes);

/*
 * A write or a flush is about to be served; interrupts are off. If the power is cut at this
 * request, the machine ends here.
 */
void powercut_before(const struct request *rq);

#endif
