/*
 * The event counters, and pointers to the functions that decide whether an operation is to fail.
 * All parts of the kernel use them; observe/ reads the counters and sets the pointers, and no part
 * depends on observe/.
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
