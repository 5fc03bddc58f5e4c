/* All tasks: creating and freeing them, their pids, and kernel threads. */
#ifndef SCHED_TASK_H
#define SCHED_TASK_H

#include "lib/list.h"
#include "sched/current.h"
#include "types.h"

#define INIT_PID 1
#define PID_MAX 32767

extern struct list_head task_list; /* every task but idle, oldest first */
#define for_each_task(t) list_for_each_entry(t, &task_list, all)

struct task_struct *task_find(int pid); /* returns NULL if none; finds zombies, too */
u32 nr_tasks(void);
extern u64 nr_forks; /* tasks started since boot, with kernel threads */

/* Returns a task with a kernel stack, otherwise empty, or NULL if out of memory. */
struct task_struct *task_alloc(const char *comm);
/* Gives t a pid and adds it to task_list. pid 0: the next free one. */
void task_publish(struct task_struct *t, int pid);
/* Removes t from task_list, if it was published. */
void task_unpublish(struct task_struct *t);
/* Frees t itself, its kernel stack and FPU state. Not for current. */
void task_release(struct task_struct *t);

/* Creates a kernel thread, which sched_start starts. pid 0: the next free one. Panics if out of
 * memory at boot. */
struct task_struct *kthread_make(const char *name, int nice, int pid, void (*fn)(void *),
				 void *arg);
/* Creates and starts a kernel thread. Panics if out of memory at boot. */
struct task_struct *kthread_create(const char *name, int nice, void (*fn)(void *), void *arg);

/* Sets the name, cut to fit. Characters that would break a line, a table or a JSON string become
 * "?". */
void task_set_comm(struct task_struct *t, const char *name);

/* Exited tasks without a waiting parent, by .sibling. The next task that runs raises event_reap. */
extern struct list_head dead_tasks;

/* CPU times of a task in ns: user, and system (kernel on its behalf). */
u64 task_utime_ns(struct task_struct *t);
u64 task_stime_ns(struct task_struct *t);

void tasks_init(void);

#endif
