/*
 * Pressure stall information for memory: the time lost because memory is short. Definition and
 * method: kernel/sched/psi.h.
 */
#ifndef SCHED_PSI_H
#define SCHED_PSI_H

#include "types.h"

struct seq_file;
struct task_struct;

enum psi_class {
	PSI_NONE,       /* asleep for another reason, or a kernel thread */
	PSI_PRODUCTIVE, /* running or runnable, not in reclaim */
	PSI_STALLED,    /* waits for memory, or is in direct reclaim */
};

/* Call when t may have changed its class, at the instant `now` (cycles). Any context. */
void psi_task_changed(struct task_struct *t, u64 now);

u64 psi_some_ns(void);
u64 psi_full_ns(void);

/* Prints the two lines of Linux's /proc/pressure/memory. */
void psi_show(struct seq_file *m);

#endif
