/* System calls on processes by number: pid, group, session, priority. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "sched/task.h"

enum { PRIO_PROCESS, PRIO_PGRP, PRIO_USER };

long sys_getpid(void)
{
	return current->pid;
}

long sys_getppid(void)
{
	return current->parent ? current->parent->pid : 0;
}

/* Returns the task; pid 0 is the caller. Returns NULL if there is none. */
static struct task_struct *find(int pid)
{
	return pid ? task_find(pid) : current;
}

long sys_getpgid(int pid)
{
	struct task_struct *t = find(pid);

	return t ? t->pgid : -ESRCH;
}

long sys_getpgrp(void)
{
	return current->pgid;
}

long sys_getsid(int pid)
{
	struct task_struct *t = find(pid);

	return t ? t->sid : -ESRCH;
}

static bool group_in_session(int pgid, int sid)
{
	struct task_struct *t;

	for_each_task(t) {
		if (t->pgid == pgid && t->sid == sid)
			return true;
	}
	return false;
}

long sys_setpgid(int pid, int pgid)
{
	struct task_struct *t = find(pid);

	if (pgid < 0)
		return -EINVAL;
	if (!t || (t != current && t->parent != current))
		return -ESRCH;
	if (t->sid != current->sid || t->pid == t->sid)
		return -EPERM;
	if (!pgid)
		pgid = t->pid;
	if (pgid != t->pid && !group_in_session(pgid, t->sid))
		return -EPERM;
	t->pgid = pgid;
	return 0;
}

long sys_setsid(void)
{
	struct task_struct *t;

	for_each_task(t) {
		if (t->pgid == current->pid)
			return -EPERM;
	}
	current->sid = current->pgid = current->pid;
	return current->pid;
}

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
