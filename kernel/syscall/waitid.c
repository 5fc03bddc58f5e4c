/*
 * waitid: wait4 with a siginfo. It can also leave the child as it is (WNOWAIT), to be waited for
 * again. No process is ever stopped or continued here, so a caller that waits only for that waits
 * until it has no such child any more.
 */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "lib/string.h"
#include "proc/rusage.h"
#include "proc/wait.h"
#include "sched/task.h"

enum { P_ALL, P_PID, P_PGID };
enum { WSTOPPED = 2, WEXITED = 4, WNOWAIT = 0x1000000 };
enum { CLD_EXITED = 1, CLD_KILLED, CLD_DUMPED };

struct siginfo {
	int signo, error, code, pid;
	u32 uid;
	int status;
};

/* Returns wait4's pid, or 0 if the arguments are wrong. */
static int choose(u32 type, int id)
{
	switch (type) {
	case P_ALL:
		return -1;
	case P_PID:
		return id > 0 ? id : 0;
	case P_PGID:
		return id > 0 ? -id : id ? 0 : -current->pgid;
	default:
		return 0;
	}
}

static bool has_child(int pid)
{
	struct task_struct *child;

	list_for_each_entry(child, &current->children, sibling)
		if (pid == -1 || child->pid == pid || child->pgid == -pid)
			return true;
	return false;
}

/* For a caller that does not wait for an exit: waits until it has no such child any more. */
static int wait_for_nothing(int pid, u32 options)
{
	int err = 0;

	if (has_child(pid) && options & WNOHANG)
		return 0;
	if (has_child(pid))
		err = wait_event_interruptible(&current->child_wait, !has_child(pid));
	return err ? err : -ECHILD;
}

static struct siginfo describe(const struct task_struct *child)
{
	int killed_by = child->exit_code & 0x7f;

	return (struct siginfo){ .signo = SIGCHLD,
				 .code = killed_by ? CLD_KILLED : CLD_EXITED,
				 .pid = child->pid,
				 .status = killed_by ? killed_by : child->exit_code >> 8 };
}

/* Describes the child to the parent, with zeros if child is NULL. Then reaps it, unless WNOWAIT is
 * set. */
static long report(struct task_struct *child, u32 options, struct siginfo *user, void *user_rusage)
{
	struct siginfo info = { 0 };
	struct rusage ru;

	if (child) {
		info = describe(child);
		rusage_both(child, &ru);
		if (user_rusage && copy_to_user(user_rusage, &ru, sizeof(ru)))
			return -EFAULT;
	}
	if (user && copy_to_user(user, &info, sizeof(info)))
		return -EFAULT;
	if (child && !(options & WNOWAIT))
		wait_reap(child);
	return 0;
}

long sys_waitid(u32 type, int id, void *user, u32 options, void *user_rusage)
{
	u32 kinds = options & (WEXITED | WSTOPPED | WCONTINUED);
	struct task_struct *child = NULL;
	int pid = choose(type, id), err;

	if (!pid || !kinds ||
	    options & ~(WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | WAIT_ALL_KINDS))
		return -EINVAL;
	if (options & WEXITED)
		err = wait_find(pid, options & WNOHANG, &child);
	else
		err = wait_for_nothing(pid, options);
	return err ? err : report(child, options, user, user_rusage);
}
