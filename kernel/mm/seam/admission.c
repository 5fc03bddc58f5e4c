/*
 * Admission: Denning's rule that a process runs only while its working set fits.
 *
 * The policy says, in may_run, which processes may run now. It is asked at the end of a page fault
 * and, for everybody, after each of its ticks. A process that may not is held back on its way
 * to user mode (WORK_ADMIT), where it holds no lock and no page is being read for it, and waits
 * until the answer changes; a fatal signal ends the wait. Its pages stay with the policy. The
 * policy must see to it that everybody's turn comes.
 *
 * kvmd is the thread that calls the policy's tick, trims surplus pages and asks again.
 */
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/vmstat.h"
#include "proc/task.h"
#include "sched/timer.h"
#include "sched/wait.h"

static void start_tick_timer(void);

static WAIT_QUEUE(admission_wait);
static WAIT_QUEUE(kvmd_wait);
static u32 nr_waiting;
static bool tick_due; /* irq */
static struct timer tick_timer;

u32 admission_nr_waiting(void)
{
	return nr_waiting;
}

void policy_admit_current(void)
{
	struct mm_struct *mm = current->mm;

	if (policy_call_may_run(mm))
		return;
	stat_count(admission_wait);
	current->in_admit = true;
	if (nr_waiting++ == 0)
		start_tick_timer();
	wait_event_interruptible(&admission_wait, policy_call_may_run(mm));
	nr_waiting--;
	current->in_admit = false;
}

void admission_recheck(void)
{
	struct mm_struct *mm;

	if (nr_waiting)
		wake_up(&admission_wait);
	if (!vm_policy->may_run)
		return;
	for_each_mm(mm)
		if (mm->task && !policy_call_may_run(mm))
			task_set_work(mm->task, WORK_ADMIT);
}

/* While somebody is held back the tick must come, even if the machine is idle. */
static void start_tick_timer(void)
{
	u64 at = clock_ns() + policy_tick_ms() * 1000000ull;

	if (tick_timer.armed) /* who is held back again and again must not put it off */
		at = MIN(at, tick_timer.expires_ns);
	timer_stop(&tick_timer);
	tick_timer.deferrable = !nr_waiting;
	timer_start(&tick_timer, at);
}

static void tick_fire(struct timer *t)
{
	(void)t;
	tick_due = true;
	wake_up(&kvmd_wait);
}

static void trim_all(void)
{
	struct mm_struct *mm;
	u32 id = 0;

	/* Trimming may sleep, and processes may end meanwhile: go on by number. */
	while (vm_policy->surplus && (mm = mm_after(id))) {
		u32 n = policy_call_surplus(mm);

		id = mm->id;
		if (n)
			reclaim_trim(mm, n);
	}
}

static void kvmd(void *arg)
{
	(void)arg;
	current->flags |= TF_RECLAIM;
	for (;;) {
		start_tick_timer();
		wait_event_interruptible(&kvmd_wait, tick_due);
		tick_due = false;
		while (policy_call_tick())
			cond_resched();
		trim_all();
		admission_recheck();
	}
}

void admission_init(void)
{
	timer_setup(&tick_timer, tick_fire, true);
	kthread_create("kvmd", -20, kvmd, NULL);
}
