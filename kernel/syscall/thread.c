/* System calls of Linux's threads, as far as a program without threads makes them. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "proc/task.h"

#define CSIGNAL 0xffu
#define CLONE_VM 0x100u
#define CLONE_VFORK 0x4000u
#define CLONE_PARENT_SETTID 0x100000u
#define CLONE_CHILD_CLEARTID 0x200000u
#define CLONE_CHILD_SETTID 0x1000000u
#define CLONE_KNOWN                                                                                \
	(CSIGNAL | CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID |           \
	 CLONE_CHILD_SETTID)

/* There are no threads. CLONE_VM is allowed only with CLONE_VFORK, whose caller waits anyway. */
static bool clone_flags_valid(u32 flags)
{
	bool vfork = flags & CLONE_VFORK;

	return !(flags & ~CLONE_KNOWN) && (!(flags & CLONE_VM) || vfork) &&
	       ((flags & CSIGNAL) == SIGCHLD || !(flags & CSIGNAL));
}

long sys_clone(u32 flags, u32 sp, u32 *parent_tid, u32 tls, u32 *child_tid)
{
	int pid;

	(void)tls;
	if (!clone_flags_valid(flags))
		return -EINVAL;
	if (flags & CLONE_PARENT_SETTID && !access_ok(parent_tid, 4))
		return -EFAULT;
	pid = do_fork(sp, flags & CLONE_CHILD_SETTID ? child_tid : NULL);
	if (pid > 0 && flags & CLONE_PARENT_SETTID)
		put_user_u32(parent_tid, pid);
	return pid;
}

/* Robust lists are only for threads, which do not exist here. */
long sys_set_robust_list(void)
{
	return 0;
}

#define FUTEX_WAKE 1u
#define FUTEX_FLAGS 0x180u /* private, realtime */

/* With one thread per address space no thread ever waits, so there is none to wake. */
long sys_futex(void *addr, u32 op)
{
	if (!access_ok(addr, 4))
		return -EFAULT;
	return (op & ~FUTEX_FLAGS) == FUTEX_WAKE ? 0 : -ENOSYS;
}
