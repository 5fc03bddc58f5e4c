/* Waiting for children, in two steps: wait4 reports to its caller between them. */
#ifndef PROC_WAIT_H
#define PROC_WAIT_H

#include "types.h"

struct task_struct;

#define WNOHANG 1
#define WUNTRACED 2 /* nothing ever stops: no effect */
#define WCONTINUED 8
#define WAIT_ALL_KINDS 0xE0000000u /* __WNOTHREAD, __WALL, __WCLONE: no effect */

/* Finds a zombie child that matches wait4's pid and stores it in *child, or NULL if there is none
 * yet (WNOHANG). Returns 0, -ECHILD if no such child exists, -EINVAL, or -ERESTARTSYS. Sleeps. */
int wait_find(int pid, u32 options, struct task_struct **child);
/* Frees a zombie child: adds its times to current's and releases its pid. */
void wait_reap(struct task_struct *child);

#endif
