/*
 * Admission: Denning's rule that a process runs only while its working set fits in memory.
 *
 * The may_run hooks of the policy and of the guards say which processes may run now; all of them must
 * agree. They are called for the current process at the end of a page fault, and for all processes
 * after each tick. A process that may not run is held back on its way to user mode (WORK_ADMIT), where
 * it holds no lock and waits for no page. It waits until the answer changes or it gets a fatal signal.
 * The policy keeps its pages. The policy and the guards must give every process a turn: if a process is
 * held back and no program has run for a minute, the policy or guard that refuses it has broken a rule.
 */
#include "mm/control.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/rules.h"
#include "mm/vmstat.h"
#include "sched/current.h"
#include "sched/sched.h"
#include "sched/wait.h"

#define NOBODY_RUNS_NS 60000000000ull

static WAIT_QUEUE(admission_wait);
static u32 nr_waiting, most_waiting;
static u64 idle_since_ns, ran_ns; /* since when no program has run; total run time at that moment */

u32 admission_nr_waiting(void)
{
	return nr_waiting;
}

u32 admission_most_waiting(void)
{
	return most_waiting;
}

void policy_admit_current(void)
{
	struct mm_struct *mm = current->mm;

	if (admission_grants(mm))
		return;
	stat_count(admission_wait);
	current->in_admit = true;
	if (nr_waiting++ == 0)
		kvmd_must_tick();
	most_waiting = MAX(most_waiting, nr_waiting);
	wait_event_interruptible(&admission_wait, admission_grants(mm));
	nr_waiting--;
	current->in_admit = false;
}

static u64 programs_ran_ns(void)
{
	struct mm_struct *mm;
	u64 sum = 0;

	for_each_mm(mm)
		sum += mm_vtime(mm);
	return sum;
}

static void blame_who_holds(struct mm_struct *mm)
{
	const struct hook_timer *t = policy_call_may_run(mm) ? &guard_timer : &policy_timer;

	if (admission_grants(mm)) /* the answer changed when it was asked once more */
		return;
	rule_broken(t, "may_run", "may_run", NULL,
		    "a process is held back, and for a minute no process has run");
}

/* Have the held-back processes been the only ones that could run for too long? */
static void notice_standstill(void)
{
	u64 now = vm_now(), ran = nr_waiting ? programs_ran_ns() : 0;
	struct mm_struct *mm;

	if (!nr_waiting || ran != ran_ns) {
		idle_since_ns = now;
		ran_ns = ran;
	} else if (now - idle_since_ns > NOBODY_RUNS_NS) {
		idle_since_ns = now;
		for_each_mm(mm)
			if (mm->task && mm->task->in_admit) {
				blame_who_holds(mm);
				break;
			}
	}
}

void admission_recheck(void)
{
	struct mm_struct *mm;

	notice_standstill();
	if (nr_waiting)
		wake_up(&admission_wait);
	if (!admission_asks())
		return;
	for_each_mm(mm)
		if (mm->task && !admission_grants(mm))
			task_set_work(mm->task, WORK_ADMIT);
}
