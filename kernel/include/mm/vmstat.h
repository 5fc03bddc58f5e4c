/* Event counters since boot, with Linux's names. */
#ifndef MM_VMSTAT_H
#define MM_VMSTAT_H

#include "types.h"

/* clang-format off */
#define VM_EVENTS(X)                                                                               \
	X(pgalloc) X(pgfree) X(pgfault) X(pgmajfault) X(pgreuse) X(pswpin) X(pswpout)              \
	X(pgscan_kswapd) X(pgscan_direct) X(pgsteal_kswapd) X(pgsteal_direct) X(pgrescued)         \
	X(pgdetach) X(pglaunder) X(pgtrim) X(allocstall) X(kswapd_wake) X(swap_ra) X(swap_ra_hit)  \
	X(workingset_refault) X(oom_kill) X(swap_read_error) X(swap_write_error)                   \
	X(admission_wait) X(policy_violation)
/* clang-format on */

enum vm_event {
#define X(name) VM_##name,
	VM_EVENTS(X)
#undef X
		NR_VM_EVENTS
};

extern u64 vm_events[NR_VM_EVENTS];
extern const char *const vm_event_names[NR_VM_EVENTS];

struct seq_file;

/* observe/check.c: "ok", or what contradicts what. */
void vm_check_show(struct seq_file *m);
/* Registers the /proc files. */
void vmstat_init(void);

#define stat_count(name) ((void)vm_events[VM_##name]++)
#define stat_add(name, n) ((void)(vm_events[VM_##name] += (n)))
#define vm_count(name) stat_count(name) /* as files of the paging lab call it */

#endif
