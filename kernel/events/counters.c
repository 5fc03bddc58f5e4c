/* The counters of events: observe/counters.h lists them. */
#include "mm/vmstat.h"

u64 vm_events[NR_VM_EVENTS];

const char *const vm_event_names[NR_VM_EVENTS] = {
#define X(name, meaning) #name,
	COUNTERS(X)
#undef X
};
