/* The life of a process: fork, execve, exit. */
#ifndef PROC_TASK_H
#define PROC_TASK_H

#include "sched/task.h"
#include "types.h"

struct pt_regs;

/* fork: creates and starts a child of current. Returns its pid, -EAGAIN (too many tasks) or
 * -ENOMEM. The child continues with stack pointer child_sp (0: its parent's). child_tid_set, an
 * address in the child or NULL: the child's pid is stored there. */
int do_fork(u32 child_sp, u32 *child_tid_set);
/* Replaces current's program. Returns 0, or -errno with the old program intact. A failure after the
 * point of no return kills the task. kernel_args: argv and envp are kernel vectors, else user
 * vectors. */
int do_execve(const char *path, char *const *argv, char *const *envp, bool kernel_args);
void __noreturn do_exit(int code); /* code as wait4 reports it */
extern char run_command[512]; /* run=; empty on an interactive machine */
extern int run_status; /* the command's exit status, once the machine powers off */

static inline bool run_mode(void)
{
	return run_command[0] != '\0';
}

/* Starts /init as process 1. */
void proc_start_init(void);
/* Maximum number of tasks, set by proc_init from the size of memory. */
extern u32 max_threads;
void proc_init(void);

/* Runs before each return to user mode if work is pending: signals, reschedule, admission. */
void exit_to_user(struct pt_regs *regs);

#endif
