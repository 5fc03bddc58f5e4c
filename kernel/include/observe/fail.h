/*
 * Failure injection: one event fails, the Nth read or write request of a disk, or the Nth
 * allocation. Details in kernel/observe/fail.c. The code that performs such an operation asks here
 * each time whether it is to fail, and then behaves as if the failure were real.
 */
#ifndef OBSERVE_FAIL_H
#define OBSERVE_FAIL_H

#include "types.h"

struct block_device;

enum fail_how { FAILS_NOT, FAILS, FAILS_MUTE };

/* Count an event and decide whether it fails. NULL while no failure was requested (observe/fail.c). */
extern bool (*fail_count_alloc)(void);
extern enum fail_how (*fail_count_request)(const struct block_device *bdev, u32 sector, bool write);

/* Call at an allocation that may return NULL. Returns true if it is to fail. */
static inline bool fail_alloc(void)
{
	return unlikely(fail_count_alloc) && fail_count_alloc();
}

/* Call at the beginning of a request for current, with interrupts off. FAILS: it ends with -EIO.
 * FAILS_MUTE: it gets no answer. */
static inline enum fail_how fail_request(const struct block_device *bdev, u32 sector, bool write)
{
	return unlikely(fail_count_request) ? fail_count_request(bdev, sector, write) : FAILS_NOT;
}

void fail_report(void); /* prints the outcome, if a failure was requested */

#endif
