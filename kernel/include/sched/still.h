/* Inspecting the machine while its clock stands still. */
#ifndef SCHED_STILL_H
#define SCHED_STILL_H

/* Calls fn with interrupts off. In an exact run, if no timer interrupt is being handled, fn takes
 * no machine time. fn must not sleep. */
void still(void (*fn)(void));

#endif
