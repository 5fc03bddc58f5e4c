/* System calls on clocks in other layouts than clock_gettime64's, their resolution, setting them. */
#include "arch/time.h"
#include "arch/uaccess.h"
#include "calls.h"
#include "clock.h"
#include "errno.h"
#include "internal.h"
#include "proc/rusage.h"

long sys_clock_gettime(u32 clock, void *user)
{
	struct timespec32 ts;
	u64 ns;

	if (clock_read(clock, &ns))
		return -EINVAL;
	ts.sec = split_ns(ns, (u32 *)&ts.nsec);
	return copy_to_user(user, &ts, sizeof(ts));
}

long sys_clock_getres_time64(u32 clock, void *user)
{
	struct timespec64 ts = { .nsec = 1 };
	u64 ns;

	if (clock_read(clock, &ns))
		return -EINVAL;
	return user ? copy_to_user(user, &ts, sizeof(ts)) : 0;
}

long sys_clock_getres(u32 clock, void *user)
{
	struct timespec32 ts = { .nsec = 1 };
	u64 ns;

	if (clock_read(clock, &ns))
		return -EINVAL;
	return user ? copy_to_user(user, &ts, sizeof(ts)) : 0;
}

struct timeval32 to_timeval(u64 ns)
{
	u32 nsec, sec = split_ns(ns, &nsec);

	return (struct timeval32){ .sec = sec, .usec = nsec / 1000 };
}

long sys_gettimeofday(void *user_tv, void *user_tz)
{
	struct timeval32 tv = to_timeval(clock_realtime_ns());
	u32 tz[2] = { 0, 0 };

	if (user_tv && copy_to_user(user_tv, &tv, sizeof(tv)))
		return -EFAULT;
	return user_tz ? copy_to_user(user_tz, tz, sizeof(tz)) : 0;
}

long sys_time(u32 *user)
{
	u32 nsec, sec = split_ns(clock_realtime_ns(), &nsec);

	if (user && put_user_u32(user, sec))
		return -EFAULT;
	return sec;
}

/* No process may set the clock: runs would no longer be reproducible. */
long sys_settimeofday(void)
{
	return -EPERM;
}
