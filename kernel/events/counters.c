/*
 * What the whole kernel counts and asks on behalf of observe/: the event counters, and the
 * functions that decide whether an operation fails. No part depends on the files that read the
 * counters or set these functions.
 */
#include "mm/vmstat.h"
#include "observe/fail.h"

u64 vm_events[NR_VM_EVENTS];

const char *const vm_event_names[NR_VM_EVENTS] = {
#define X(name, meaning) #name,
	COUNTERS(X)
#undef X
};

bool (*fail_count_alloc)(void);
enum fail_how (*fail_count_request)(const struct block_device *bdev, u32 sector, bool write);
