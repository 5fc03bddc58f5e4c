/*
 * The scheduler: CFS on a red-black tree by vruntime (kernel/sched/fair.c), an idle task, and the
 * states of a task.
 */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include "lib/rbtree.h"
#include "types.h"

struct task_struct;
struct seq_file;

enum task_state {
	TASK_RUNNING,         /* on the run queue, or on the CPU */
	TASK_INTERRUPTIBLE,   /* asleep; signals wake it */
	TASK_UNINTERRUPTIBLE, /* asleep; only its event wakes it */
	TASK_ZOMBIE,          /* exited; not yet reported by wait4 */
	TASK_DEAD,
};

struct sched_entity {
	struct rb_node node;
	u64 vruntime;        /* ns of CPU time, weighted: the tree's key */
	u64 exec_start;      /* clock_ns when last accounted */
	u64 sum_exec;        /* ns of CPU time */
	u64 slice_start;     /* sum_exec when it was picked */
	u32 weight;          /* Linux's sched_prio_to_weight of its nice value */
	bool on_rq;
};

/* Tunables in ns: Linux's names and its defaults for one CPU. */
extern u32 sched_latency_ns, sched_min_granularity_ns, sched_wakeup_granularity_ns;

/* Gives up the CPU; current's state decides whether it stays runnable. */
void schedule(void);
/* Makes t runnable if it sleeps. Returns false if it was not asleep. irq-safe. */
bool wake_up_process(struct task_struct *t);
/* Makes a new task runnable for the first time. */
void sched_start(struct task_struct *t);
/* Sets a child's vruntime from its parent's. */
void sched_fork(struct task_struct *child);
void sched_set_nice(struct task_struct *t, int nice); /* -20 .. 19 */
/* sched_yield: lets every other runnable task run first. */
void sched_yield(void);
/* Called in long kernel loops: switches tasks if another one should run. */
void cond_resched(void);
/* Called by the tick, in irq context. */
void sched_tick(void);
void sched_init(void);
/* Becomes the idle task: never returns. Unless the machine is interactive, tasks that all sleep
 * without a timer are a deadlock. */
void __noreturn cpu_idle(bool interactive);

u32 sched_nr_running(void); /* runnable tasks, with current, without idle */
u64 sched_nr_switches(void);
bool sched_idling(void); /* for interrupt handlers: has the interrupt come to an idle CPU? */
u64 sched_idle_ns(void); /* total idle time */
u64 sched_iowait_ns(void); /* idle time in which a task waited for the disk */
void sched_loadavg(u32 avg[3]); /* fixed point, 11 bits, as Linux */

/* The tasks that wait in the run queue's tree. The order shows the tree's shape: a child that comes
 * before its parent is the left one. */
struct queued_task {
	int pid, parent; /* parent in the tree, by pid; 0: the root */
	u64 vruntime;
	bool black;
};
/* Calls fn in order of vruntime, with interrupts off. */
void sched_for_each_queued(void (*fn)(const struct queued_task *q));
/* Returns the first or last waiting task in the run queue that runs a program, or NULL. */
struct task_struct *sched_queued(bool last);
/* Prints the run queue in order of vruntime, for gdb and /proc/sched. */
void sched_show(struct seq_file *m);

#endif
