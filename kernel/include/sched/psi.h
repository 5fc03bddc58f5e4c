/*
 * Pressure stall information for memory: how much time is lost for want of it. What is counted
 * and how: kernel/sched/psi.h.
 */
#ifndef SCHED_PSI_H
#define SCHED_PSI_H

#include "types.h"

struct seq_file;
struct task_struct;

enum psi_class {
	PSI_NONE,       /* asleep for another reason, or not a program */
	PSI_PRODUCTIVE, /* runs or can run, and not to reclaim */
	PSI_STALLED,    /* waits for memory, or reclaims for itself */
};

/* t may have changed its class at the instant `now` (cycles). From any context. */
void psi_task_changed(struct task_struct *t, u64 now);

u64 psi_some_ns(void);
u64 psi_full_ns(void);

/* The two lines of Linux's /proc/pressure/memory. */
void psi_show(struct seq_file *m);

#endif
