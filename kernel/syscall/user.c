/* System calls on users and groups of users. Every process runs as root. */
#include "calls.h"
#include "errno.h"

long sys_getuid(void)
{
	return 0;
}

long sys_setuid(u32 id)
{
	return id ? -EPERM : 0;
}

long sys_setreuid32(u32 real, u32 effective)
{
	return (real && ~real) || (effective && ~effective) ? -EPERM : 0;
}

long sys_setresuid32(u32 real, u32 effective, u32 saved)
{
	return saved && ~saved ? -EPERM : sys_setreuid32(real, effective);
}

long sys_getgroups32(void)
{
	return 0;
}

long sys_setgroups32(u32 n)
{
	return n ? -EPERM : 0;
}
