/*
 * The power goes at a chosen write of the modelled disk for files: what is then on its medium, and
 * what its cache lost. kernel/drivers/powercut.c says more.
 */
#ifndef DRIVERS_POWERCUT_H
#define DRIVERS_POWERCUT_H

#include "types.h"

struct request;

/* The request of cut=; 0: the power stays. */
u32 powercut_at(void);

/* Bytes of memory that a cache of so many bytes needs, whole pages. */
u64 powercut_room(u64 cache_bytes);

/* The disk's sectors begin with this frame; so does, after them, the room for its cache. Boot only. */
void powercut_open(u32 store_pfn, u32 cache_pfn, u64 cache_bytes);

/*
 * A write, or a flush, is about to be served; interrupts are off. If it is the one at which the power
 * goes, the machine ends here.
 */
void powercut_before(const struct request *rq);

/* At power-off: on the console, if the power was to be cut and was not. */
void powercut_report(void);

#endif
