/* Waiting for children, in the two steps between which wait4 tells its caller. */
#ifndef PROC_WAIT_H
#define PROC_WAIT_H

#include "types.h"

struct task_struct;

#define WNOHANG 1
#define WUNTRACED 2 /* nothing ever stops: no effect */
#define WCONTINUED 8
#define WAIT_ALL_KINDS 0xE0000000u /* __WNOTHREAD, __WALL, __WCLONE: no effect */

/* A zombie child as wait4's pid says, in *child; NULL there: none yet (WNOHANG). 0; -ECHILD: there is
 * no such child; -EINVAL; -ERESTARTSYS: a signal came. Sleeps. */
int wait_find(int pid, u32 options, struct task_struct **child);
/* The end of a zombie child: its times are added to current's, its pid is free. */
void wait_reap(struct task_struct *child);

#endif
