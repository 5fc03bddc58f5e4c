/* Resources used, in the layout of getrusage and wait4. */
#ifndef PROC_RUSAGE_H
#define PROC_RUSAGE_H

#include "types.h"

struct task_struct;

struct timeval32 {
	s32 sec, usec;
};

struct rusage {
	struct timeval32 utime, stime;
	u32 maxrss; /* KiB */
	u32 ixrss, idrss, isrss;
	u32 minflt, majflt;
	u32 nswap, inblock, oublock, msgsnd, msgrcv, nsignals;
	u32 nvcsw, nivcsw;
};

STATIC_ASSERT(sizeof(struct rusage) == 72);

void rusage_self(struct task_struct *t, struct rusage *ru);
/* Covers the children that were waited for. */
void rusage_children(struct task_struct *t, struct rusage *ru);
/* Covers t and the children that it waited for. */
void rusage_both(struct task_struct *t, struct rusage *ru);

#endif
