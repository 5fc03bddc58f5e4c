/* ITIMER_REAL of the current task. */
#ifndef PROC_ALARM_H
#define PROC_ALARM_H

#include "types.h"

/* Until SIGALRM is sent; 0: no alarm is set. */
u64 alarm_left_ns(void);
/* after_ns 0: none; interval_ns 0: once. */
void alarm_set(u64 after_ns, u64 interval_ns);
/* SIGALRM has been taken: the next period of a periodic alarm begins. */
void alarm_restart(void);

#endif
