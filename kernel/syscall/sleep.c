/* System calls that sleep until a time. */
#include "arch/uaccess.h"
#include "calls.h"
#include "clock.h"
#include "errno.h"
#include "internal.h"
#include "sched/timer.h"

#define TIMER_ABSTIME 1u
#define MAX_SEC 9000000000ll /* its value in ns fits in an s64 */

s64 timespec_ns(s64 sec, s64 nsec)
{
	if (sec < 0 || nsec < 0 || nsec >= NSEC)
		return -1;
	return sec > MAX_SEC ? MAX_SEC * NSEC : sec * NSEC + nsec;
}

/* Converts a time of a clock to a time from now. Returns 0 or -EINVAL. */
static int make_relative(u32 clock, s64 *ns)
{
	u64 now;

	if (clock_read(clock, &now))
		return -EINVAL;
	*ns = (u64)*ns > now ? *ns - (s64)now : 0;
	return 0;
}

/* *left is 0 if there is no remaining time to report. */
static int sleep_on_clock(u32 clock, u32 flags, s64 ns, u64 *left)
{
	bool absolute = flags & TIMER_ABSTIME;

	*left = 0;
	if (ns < 0 || flags & ~TIMER_ABSTIME)
		return -EINVAL;
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)
		return -EINVAL;
	if (absolute && make_relative(clock, &ns))
		return -EINVAL;
	if (!ns || !sleep_ns(ns, left))
		return 0;
	if (absolute)
		*left = 0;
	return -EINTR;
}

long sys_clock_nanosleep_time64(u32 clock, u32 flags, const void *user, void *user_left)
{
	struct timespec64 ts, rest;
	u64 left;
	int err;

	if (copy_from_user(&ts, user, sizeof(ts)))
		return -EFAULT;
	err = sleep_on_clock(clock, flags, timespec_ns(ts.sec, ts.nsec), &left);
	if (!left || !user_left)
		return err;
	rest = (struct timespec64){ .sec = left / NSEC, .nsec = left % NSEC };
	return copy_to_user(user_left, &rest, sizeof(rest)) ? -EFAULT : err;
}

long sys_clock_nanosleep(u32 clock, u32 flags, const void *user, void *user_left)
{
	struct timespec32 ts, rest;
	u64 left;
	int err;

	if (copy_from_user(&ts, user, sizeof(ts)))
		return -EFAULT;
	err = sleep_on_clock(clock, flags, timespec_ns(ts.sec, ts.nsec), &left);
	if (!left || !user_left)
		return err;
	rest = (struct timespec32){ .sec = left / NSEC, .nsec = left % NSEC };
	return copy_to_user(user_left, &rest, sizeof(rest)) ? -EFAULT : err;
}

long sys_nanosleep(const void *user, void *user_left)
{
	return sys_clock_nanosleep(CLOCK_MONOTONIC, 0, user, user_left);
}
