/*
 * The out-of-memory killer: when nothing can be reclaimed, it kills a process.
 *
 * Badness is the memory that killing the process would free: resident pages, swapped pages and page
 * tables (Linux's measure without its adjustments). The process with the highest badness is killed,
 * the youngest among equals, but never process 1. The victim may use the last frames so that it can
 * exit. Until it has exited, no other process is killed. But the victim may itself be waiting for a
 * task that waits here (for a pipe's lock): if it has not exited after a while, another one is killed.
 */
#include "mm/oom.h"

#include "lib/assert.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "mm/mm.h"
#include "mm/swap.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "sched/task.h"
#include "sched/timer.h"
#include "observe/events.h"

#define INIT_PATIENCE_S 1u
#define INIT_PAUSE_NS 10000000ull
#define VICTIM_WAIT_NS 10000000u
#define VICTIM_PATIENCE_NS 1000000000u

static u64 killed_ns; /* when the last victim was chosen */
static u32 panic_on_oom;

PARAM_U32("vm.panic_on_oom", panic_on_oom, 0, 1, NULL, "1: panic instead of killing a process");

static u32 badness(const struct mm_struct *mm)
{
	return mm_rss_pages(mm) + mm->count.swapents + mm->count.ptes;
}

static struct task_struct *choose(bool *dying)
{
	struct task_struct *t, *worst = NULL;
	u32 most = 0;

	*dying = false;
	for_each_task(t) {
		if (!t->mm || t->pid == INIT_PID || t->state >= TASK_ZOMBIE)
			continue;
		if (t->flags & TF_OOM_VICTIM) {
			*dying |= clock_ns() - killed_ns < VICTIM_PATIENCE_NS;
			continue;
		}
		if (badness(t->mm) >= most) {
			most = badness(t->mm);
			worst = t;
		}
	}
	return worst;
}

static void kill(struct task_struct *t)
{
	const struct mm_counters *c = &t->mm->count;

	printk("Out of memory: %u frames free, %u swap slots free: killed process %d (%s), the one "
	       "with the most: %u KiB resident, %u KiB swapped, %u KiB page tables\n",
	       nr_free_pages(), swap_nr_free, t->pid, t->comm, mm_rss_pages(t->mm) * 4,
	       c->swapents * 4, c->ptes * 4);
	stat_count(oom_kill);
	event_oom(t);
	t->flags |= TF_OOM_VICTIM;
	killed_ns = clock_ns();
	signal_send(t, SIGKILL);
}

bool out_of_memory(void)
{
	bool dying;
	struct task_struct *t = choose(&dying);

	if (!dying && !t)
		return false;
	if (!dying && panic_on_oom)
		panic("out of memory, and vm.panic_on_oom is set");
	if (!dying)
		kill(t);
	if (!(current->flags & TF_OOM_VICTIM))
		ksleep_ns(VICTIM_WAIT_NS);
	return true;
}

bool init_lacks_memory(void)
{
	static const int failed = 1;
	static u64 since_ns, last_ns;
	u64 now = clock_ns();

	if (current->pid != INIT_PID)
		return false;
	if (now - last_ns > 2 * INIT_PAUSE_NS)
		since_ns = now;
	if (now - since_ns > INIT_PATIENCE_S * 1000000000ull) {
		printk("init: no memory for %u s: the machine ends\n", INIT_PATIENCE_S);
		event_power_off(&failed);
	}
	ksleep_ns(INIT_PAUSE_NS);
	last_ns = clock_ns();
	return true;
}
