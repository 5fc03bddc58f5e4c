/* The first process, init, and the memory that all processes own besides their address space. */
#include "proc/task.h"
#include "arch/time.h"
#include "fs/files.h"
#include "internal.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "mm/slab.h"
#include "observe/events.h"
#include "sched/timer.h"

char run_command[512];
int run_status;
struct task_struct *init_process;
u32 max_threads;

static struct kmem_cache *sighand_cache;

PARAM_STR("run", run_command, "run one command line, print what it cost, power off", AT_BOOT);

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

void task_free(struct task_struct *t)
{
	task_unpublish(t);
	list_del_init(&t->sibling);
	if (t->mm)
		mm_destroy(t->mm);
	if (t->files)
		files_destroy(t->files);
	if (t->cwd)
		inode_put(t->cwd);
	if (t->root)
		inode_put(t->root);
	sighand_free(t->sig.hand);
	task_release(t);
}

static void reap_dead(void *none)
{
	(void)none;
	while (!list_empty(&dead_tasks))
		task_free(list_first_entry(&dead_tasks, struct task_struct, sibling));
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

/* Other resources are not limited. Core dumps, whose limit is 0, are never written. */
static void set_limits(struct rlimit *limits)
{
	limits[RLIMIT_STACK].soft = STACK_LIMIT;
	limits[RLIMIT_CORE].soft = 0;
	limits[RLIMIT_NPROC] = (struct rlimit){ max_threads, max_threads };
	limits[RLIMIT_NOFILE] = (struct rlimit){ NR_OPEN, NR_OPEN };
}

void proc_start_init(void)
{
	init_process = kthread_make("init", 0, INIT_PID, init_start, NULL);
	init_process->umask = 022;
	set_limits(init_process->limits);
	sched_start(init_process);
}

void proc_init(void)
{
	sighand_cache = kmem_cache_create("sighand", sizeof(struct sighand), 0, NULL);
	max_threads = MIN(MAX(nr_managed_pages() / 16, 32u), 1024u);
	listen_reap(reap_dead);
}
