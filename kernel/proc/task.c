/*
 * Tasks: creating and freeing them, their pids, and the list of all tasks.
 *
 * A task is allocated, filled in by its creator (fork, kthread_create, proc_start_init), published
 * with a pid, and started. It ends in do_exit. The rest of it (struct, kernel stack, FPU state) is
 * freed by its parent's wait4, or by the next task that runs if no parent waits for it: a task
 * cannot free the stack that it is running on.
 *
 * Pids count up to PID_MAX and then start again. The first time round every number is free.
 * Afterwards each candidate is compared with all pids, process groups and sessions in use.
 */
#include "arch/irq.h"
#include "arch/time.h"
#include "fs/vfs.h"
#include "internal.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "main.h"
#include "mm/mm.h"
#include "mm/slab.h"
#include "sched/timer.h"

#define FIRST_PID 2 /* 1 is init */
#define INIT_PATIENCE_S 1u
#define INIT_PAUSE_NS 10000000ull

LIST_HEAD(task_list); /* irq: walked by interrupt handlers */
LIST_HEAD(dead_tasks); /* by .sibling */
struct task_struct *init_process;
u32 max_threads;
u64 nr_forks;

static struct kmem_cache *task_cache, *sighand_cache;
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
	t->state = TASK_UNINTERRUPTIBLE;
	strlcpy(t->comm, comm, TASK_COMM_LEN);
	INIT_LIST_HEAD(&t->children);
	INIT_LIST_HEAD(&t->sibling);
	INIT_LIST_HEAD(&t->all);
	wait_queue_init(&t->child_wait);
	t->acct.now = ACCT_READY;
	t->acct.since = cycles_now();
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

static void task_unpublish(struct task_struct *t)
{
	unsigned long flags = irq_save();

	list_del_init(&t->all);
	irq_restore(flags);
	tasks--;
}

void task_free(struct task_struct *t)
{
	ASSERT(t != current);
	if (!list_empty(&t->all))
		task_unpublish(t);
	list_del_init(&t->sibling);
	if (t->mm)
		mm_destroy(t->mm);
	if (t->files)
		files_destroy(t->files);
	if (t->cwd)
		inode_put(t->cwd);
	sighand_free(t->sig.hand);
	thread_free(t);
	kernel_stack_free(t->stack);
	kmem_cache_free(task_cache, t);
}

void task_reap_dead(void)
{
	while (!list_empty(&dead_tasks))
		task_free(list_first_entry(&dead_tasks, struct task_struct, sibling));
}

struct sighand *sighand_alloc(void)
{
	struct sighand *hand = kmem_cache_alloc(sighand_cache, GFP_KERNEL);

	if (hand)
		memset(hand->actions, 0, sizeof(hand->actions));
	return hand;
}

void sighand_free(struct sighand *hand)
{
	if (hand)
		kmem_cache_free(sighand_cache, hand);
}

static struct task_struct *kthread_make(const char *name, int nice, int pid, void (*fn)(void *),
					void *arg)
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

static void init_start(void *arg)
{
	char *const argv[] = { (char *)"init", run_mode() ? run_command : NULL, NULL };
	static char *const envp[] = { (char *)"HOME=/", (char *)"PATH=/bin", (char *)"TERM=vt100",
				      NULL };
	struct task_struct *t = current;
	struct file *console;
	int err;

	(void)arg;
	run_stage(disks);
	t->sig.hand = sighand_alloc();
	t->files = files_create();
	if (!t->sig.hand || !t->files)
		panic("no memory for init");
	run_stage(mounts);
	err = vfs_open("/dev/console", O_RDWR, 0, &console);
	if (err)
		panic("/dev/console cannot be opened: error %d", -err);
	for (u32 fd = 0; fd < 3; fd++) {
		file_get(console);
		fd_install_at(console, fd, false);
	}
	file_put(console);
	err = do_execve("/init", argv, envp, true);
	if (err)
		panic("/init cannot be started: error %d", -err);
	run_stage(running);
	thread_enter_user();
}

bool init_lacks_memory(void)
{
	static u64 since_ns, last_ns;
	u64 now = clock_ns();

	if (current != init_process)
		return false;
	if (now - last_ns > 2 * INIT_PAUSE_NS)
		since_ns = now;
	if (now - since_ns > INIT_PATIENCE_S * 1000000000ull) {
		printk("init: no memory for %u s: the machine ends\n", INIT_PATIENCE_S);
		power_off(1);
	}
	ksleep_ns(INIT_PAUSE_NS);
	last_ns = clock_ns();
	return true;
}

void proc_start_init(void)
{
	init_process = kthread_make("init", 0, INIT_PID, init_start, NULL);
	init_process->umask = 022;
	sched_start(init_process);
}

void proc_init(void)
{
	task_cache = kmem_cache_create("task_struct", sizeof(struct task_struct), 16, NULL);
	sighand_cache = kmem_cache_create("sighand", sizeof(struct sighand), 0, NULL);
	max_threads = MIN(MAX(nr_managed_pages() / 16, 32u), 1024u);
}
