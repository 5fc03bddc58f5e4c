/* System calls that tell the scheduler about a process: priority, yielding, processors. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "sched/task.h"

enum { PRIO_PROCESS, PRIO_PGRP, PRIO_USER };

static bool concerns(const struct task_struct *t, u32 which, int who)
{
	if (t->flags & TF_KTHREAD)
		return false;
	switch (which) {
	case PRIO_PROCESS:
		return t->pid == (who ? who : current->pid);
	case PRIO_PGRP:
		return t->pgid == (who ? who : current->pgid);
	default:
		return who == 0;
	}
}

/* Returns 20 - nice, 1 .. 40, so that it cannot look like an error; of several tasks the
 * highest. */
long sys_getpriority(u32 which, int who)
{
	struct task_struct *t;
	long best = -ESRCH;

	if (which > PRIO_USER)
		return -EINVAL;
	for_each_task(t) {
		if (concerns(t, which, who))
			best = MAX(best, 20 - t->nice);
	}
	return best;
}

long sys_setpriority(u32 which, int who, int nice)
{
	struct task_struct *t;
	long result = -ESRCH;

	if (which > PRIO_USER)
		return -EINVAL;
	nice = MIN(MAX(nice, -20), 19);
	for_each_task(t) {
		if (concerns(t, which, who)) {
			sched_set_nice(t, nice);
			result = 0;
		}
	}
	return result;
}

long sys_nice(int increment)
{
	increment = MIN(MAX(increment, -40), 40);
	sched_set_nice(current, MIN(MAX(current->nice + increment, -20), 19));
	return 0;
}

long sys_sched_yield(void)
{
	sched_yield();
	return 0;
}

/* There is one processor: bit 0 of the first word. */
long sys_sched_getaffinity(int pid, u32 size, void *user)
{
	u32 mask = 1;

	if (size < sizeof(mask) || size % sizeof(mask))
		return -EINVAL;
	if (pid < 0 || (pid && !task_find(pid)))
		return -ESRCH;
	return copy_to_user(user, &mask, sizeof(mask)) ? -EFAULT : (long)sizeof(mask);
}

long sys_sched_setaffinity(int pid, u32 size, const void *user)
{
	u32 mask = 0;

	if (copy_from_user(&mask, user, MIN(size, sizeof(mask))))
		return -EFAULT;
	if (pid < 0 || (pid && !task_find(pid)))
		return -ESRCH;
	return mask & 1 ? 0 : -EINVAL;
}
