/*
 * All tasks: creating and freeing them, their pids, and kernel threads.
 *
 * A task is allocated, filled in by its creator (fork, kthread_make), published with a pid, and
 * started. It ends in do_exit. The rest of it (struct, kernel stack, FPU state) is freed by its
 * parent's wait4, or by the next task that runs if no parent waits for it: a task cannot free the
 * stack that it is running on.
 *
 * Pids count up to PID_MAX and then start again. The first time round every number is free.
 * Afterwards each candidate is compared with all pids, process groups and sessions in use.
 */
#include "sched/task.h"
#include "arch/irq.h"
#include "arch/task.h"
#include "arch/time.h"
#include "lib/assert.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "sched/sched.h"

#define FIRST_PID 2 /* 1 is init */

LIST_HEAD(task_list); /* irq: walked by interrupt handlers */
LIST_HEAD(dead_tasks);
u64 nr_forks;

static struct kmem_cache *task_cache;
static u32 tasks;
static int last_pid = FIRST_PID - 1;
static bool pids_wrapped;

struct task_struct *task_find(int pid)
{
	struct task_struct *t;

	for_each_task(t) {
		if (t->pid == pid)
			return t;
	}
	return NULL;
}

u32 nr_tasks(void)
{
	return tasks;
}

static bool pid_in_use(int pid)
{
	struct task_struct *t;

	for_each_task(t) {
		if (t->pid == pid || t->pgid == pid || t->sid == pid)
			return true;
	}
	return false;
}

/* There are far fewer tasks than pids, so the loop ends. */
static int pid_alloc(void)
{
	do {
		if (++last_pid > PID_MAX) {
			last_pid = FIRST_PID;
			pids_wrapped = true;
		}
	} while (pids_wrapped && pid_in_use(last_pid));
	return last_pid;
}

void task_set_comm(struct task_struct *t, const char *name)
{
	strlcpy(t->comm, name, TASK_COMM_LEN);
	for (char *c = t->comm; *c; c++)
		if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
			*c = '?';
}

struct task_struct *task_alloc(const char *comm)
{
	struct task_struct *t = kmem_cache_alloc(task_cache, GFP_KERNEL);

	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t));
	t->stack = kernel_stack_alloc();
	if (!t->stack) {
		kmem_cache_free(task_cache, t);
		return NULL;
	}
	memset(t->limits, 0xff, sizeof(t->limits)); /* RLIM_INFINITY */
	t->state = TASK_UNINTERRUPTIBLE;
	strlcpy(t->comm, comm, TASK_COMM_LEN);
	INIT_LIST_HEAD(&t->children);
	INIT_LIST_HEAD(&t->sibling);
	INIT_LIST_HEAD(&t->all);
	wait_queue_init(&t->child_wait);
	t->acct.now = ACCT_READY;
	acct_skip(&t->acct, cycles_now());
	t->start_ns = clock_ns();
	return t;
}

void task_publish(struct task_struct *t, int pid)
{
	unsigned long flags;

	t->pid = pid ? pid : pid_alloc();
	flags = irq_save();
	list_add_tail(&t->all, &task_list);
	irq_restore(flags);
	tasks++;
	nr_forks++;
}

void task_unpublish(struct task_struct *t)
{
	unsigned long flags;

	if (list_empty(&t->all))
		return;
	flags = irq_save();
	list_del_init(&t->all);
	irq_restore(flags);
	tasks--;
}

void task_release(struct task_struct *t)
{
	ASSERT(t != current);
	thread_free(t);
	kernel_stack_free(t->stack);
	kmem_cache_free(task_cache, t);
}

struct task_struct *kthread_make(const char *name, int nice, int pid, void (*fn)(void *), void *arg)
{
	struct task_struct *t = task_alloc(name);

	if (!t)
		panic("no memory for kernel thread %s", name);
	t->flags = TF_KTHREAD;
	sched_fork(t);
	sched_set_nice(t, nice);
	thread_init_kernel(t, fn, arg);
	task_publish(t, pid);
	return t;
}

struct task_struct *kthread_create(const char *name, int nice, void (*fn)(void *), void *arg)
{
	struct task_struct *t = kthread_make(name, nice, 0, fn, arg);

	sched_start(t);
	return t;
}

static u64 account_ns(struct task_struct *t, enum acct account)
{
	return cycles_to_ns(acct_cycles(&t->acct, account, clock_cycles()));
}

u64 task_utime_ns(struct task_struct *t)
{
	return account_ns(t, ACCT_USER);
}

u64 task_stime_ns(struct task_struct *t)
{
	return account_ns(t, ACCT_KERNEL);
}

void tasks_init(void)
{
	task_cache = kmem_cache_create("task_struct", sizeof(struct task_struct), 16, NULL);
}
