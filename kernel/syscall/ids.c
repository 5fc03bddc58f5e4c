/* System calls on processes by number: pid, group, session. */
#include "calls.h"
#include "errno.h"
#include "sched/task.h"

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
