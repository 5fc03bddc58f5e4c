/* System calls that create, end and wait for processes, and report what they used. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "internal.h"
#include "mm/slab.h"
#include "proc/rusage.h"
#include "proc/task.h"
#include "proc/wait.h"

/* Also vfork: the child gets a copy, so the parent does not see its changes before execve. */
long sys_fork(void)
{
	return do_fork(0, NULL);
}

long sys_execve(const char *user, char *const *argv, char *const *envp)
{
	struct user_path p;
	int err = path_begin(&p, AT_FDCWD, user);

	if (err)
		return err;
	err = do_execve(p.name, argv, envp, false);
	path_end(&p);
	return err;
}

long sys_exit(u32 code)
{
	do_exit((code & 0xff) << 8);
}

/* The child is reaped only after its status has been copied to the parent. */
long sys_wait4(int pid, void *user_status, u32 options, void *user_rusage)
{
	struct task_struct *child;
	struct rusage ru;
	int err;

	if (!access_ok(user_status, 4) || !access_ok(user_rusage, sizeof(ru)))
		return -EFAULT;
	err = wait_find(pid, options, &child);
	if (err || !child)
		return err;
	if (user_status && put_user_u32(user_status, child->exit_code))
		return -EFAULT;
	if (user_rusage) {
		rusage_both(child, &ru);
		if (copy_to_user(user_rusage, &ru, sizeof(ru)))
			return -EFAULT;
	}
	pid = child->pid;
	wait_reap(child);
	return pid;
}

long sys_waitpid(int pid, void *user_status, u32 options)
{
	return sys_wait4(pid, user_status, options, NULL);
}

long sys_getrusage(s32 who, void *user)
{
	enum { RUSAGE_CHILDREN = -1, RUSAGE_SELF = 0, RUSAGE_THREAD = 1 };
	struct rusage ru;

	if (who < RUSAGE_CHILDREN || who > RUSAGE_THREAD)
		return -EINVAL;
	if (who == RUSAGE_CHILDREN)
		rusage_children(current, &ru);
	else
		rusage_self(current, &ru);
	return copy_to_user(user, &ru, sizeof(ru));
}

/* Thread-local storage; the C library keeps errno there. */
long sys_set_thread_area(struct user_desc *desc)
{
	return thread_set_area(desc);
}

/* Linux clears the word at addr when a thread exits. There are no threads here. */
long sys_set_tid_address(u32 addr)
{
	(void)addr;
	return current->pid;
}
