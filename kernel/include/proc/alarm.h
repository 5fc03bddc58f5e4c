/* ITIMER_REAL of the current task. */
#ifndef PROC_ALARM_H
#define PROC_ALARM_H

#include "types.h"

/* Returns the time until SIGALRM is sent, or 0 if no alarm is set. */
u64 alarm_left_ns(void);
/* after_ns 0: cancels the alarm. interval_ns 0: it fires once. */
void alarm_set(u64 after_ns, u64 interval_ns);
/* Call when SIGALRM is delivered: starts the next period of a periodic alarm. */
void alarm_restart(void);

#endif
