/* System calls on existing regions of memory: protection, size, advice, locking. */
#include "calls.h"
#include "errno.h"
#include "internal.h"
#include "mm/mm.h"
#include "sched/current.h"

enum { MCL_CURRENT = 1, MCL_FUTURE = 2 };

long sys_mprotect(u32 addr, u32 len, u32 prot)
{
	return do_mprotect(current->mm, addr, len, prot);
}

long sys_mremap(u32 addr, u32 old_len, u32 new_len, u32 flags, u32 new_addr)
{
	if (new_len > old_len && limit_forbids(new_len - old_len))
		return -ENOMEM;
	return do_mremap(current->mm, addr, old_len, new_len, flags, new_addr);
}

long sys_madvise(u32 addr, u32 len, int advice)
{
	return do_madvise(current->mm, addr, len, advice);
}

long sys_mlock(u32 addr, u32 len)
{
	return do_mlock(current->mm, addr, len, true);
}

long sys_munlock(u32 addr, u32 len)
{
	return do_mlock(current->mm, addr, len, false);
}

long sys_mlockall(u32 flags)
{
	if (!flags || flags & ~(MCL_CURRENT | MCL_FUTURE))
		return -EINVAL;
	return do_mlockall(current->mm, flags & MCL_CURRENT, flags & MCL_FUTURE);
}

long sys_munlockall(void)
{
	return do_mlockall(current->mm, false, false);
}
