/* The machine is looked at while its clock stands still. */
#ifndef SCHED_STILL_H
#define SCHED_STILL_H

/* Calls fn with interrupts off. In an exact run, if no timer interrupt is under way, what fn executes
 * takes no machine time. fn does not sleep. */
void still(void (*fn)(void));

#endif
