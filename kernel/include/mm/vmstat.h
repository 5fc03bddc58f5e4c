/* Event counters since boot; observe/counters.h lists them. */
#ifndef MM_VMSTAT_H
#define MM_VMSTAT_H

#include "observe/counters.h"
#include "types.h"

enum vm_event {
#define X(name, meaning) VM_##name,
	COUNTERS(X)
#undef X
		NR_VM_EVENTS
};

extern u64 vm_events[NR_VM_EVENTS];
extern const char *const vm_event_names[NR_VM_EVENTS];

#define stat_count(name) ((void)vm_events[VM_##name]++)
#define stat_add(name, n) ((void)(vm_events[VM_##name] += (n)))
#define vm_count(name) stat_count(name) /* the name that files of the paging lab use */

#endif
