/*
 * One event of the machine fails: the Nth request that a disk is to read, or to write, or the Nth
 * allocation. kernel/observe/fail.c says more. Who makes such events asks here about each, and
 * behaves as if the real thing had happened.
 */
#ifndef OBSERVE_FAIL_H
#define OBSERVE_FAIL_H

#include "types.h"

struct block_device;

enum fail_how { FAILS_NOT, FAILS, FAILS_MUTE };

extern bool fail_on; /* some event is still to fail; without, nothing is counted */

bool fail_count_alloc(void);
enum fail_how fail_count_request(const struct block_device *bdev, u32 sector, bool write);

/* An allocation begins that may return NULL: true: it does. */
static inline bool fail_alloc(void)
{
	return unlikely(fail_on) && fail_count_alloc();
}

/* A request begins, on whose behalf current says; interrupts are off. FAILS: it ends in -EIO.
 * FAILS_MUTE: it gets no answer. */
static inline enum fail_how fail_request(const struct block_device *bdev, u32 sector, bool write)
{
	return unlikely(fail_on) ? fail_count_request(bdev, sector, write) : FAILS_NOT;
}

void fail_start(void);  /* from here on events count: the machine has started */
void fail_init_runs(void); /* and allocations, too */
void fail_report(void); /* what became of it, on the console; nothing when none was to fail */

#endif
