/* System calls on the alarm of a process. */
#include "arch/uaccess.h"
#include "calls.h"
#include "clock.h"
#include "errno.h"
#include "internal.h"
#include "proc/alarm.h"
#include "proc/rusage.h"
#include "sched/current.h"

#define ITIMER_REAL 0u

struct itimerval32 {
	struct timeval32 interval, value;
};

static s64 timeval_ns(struct timeval32 tv)
{
	if (tv.usec < 0 || tv.usec >= 1000000)
		return -1;
	return timespec_ns(tv.sec, tv.usec * 1000ll);
}

static struct itimerval32 alarm_state(void)
{
	/* Rounded up, so that an armed timer never reads as 0. */
	return (struct itimerval32){ .interval = to_timeval(current->alarm_interval_ns),
				     .value = to_timeval(alarm_left_ns() + 999) };
}

long sys_setitimer(u32 which, const void *user, void *user_old)
{
	struct itimerval32 new, old = alarm_state();
	s64 value, interval;

	if (which != ITIMER_REAL)
		return -EINVAL;
	if (copy_from_user(&new, user, sizeof(new)))
		return -EFAULT;
	value = timeval_ns(new.value);
	interval = timeval_ns(new.interval);
	if (value < 0 || interval < 0)
		return -EINVAL;
	if (user_old && copy_to_user(user_old, &old, sizeof(old)))
		return -EFAULT;
	alarm_set(value, interval);
	return 0;
}

long sys_getitimer(u32 which, void *user)
{
	struct itimerval32 state = alarm_state();

	return which != ITIMER_REAL ? -EINVAL : copy_to_user(user, &state, sizeof(state));
}

/* Returns the rest of the previous alarm, rounded to seconds but never to 0 while it was set, and 0
 * without one. */
long sys_alarm(u32 sec)
{
	u64 left = alarm_left_ns();

	alarm_set((u64)MIN(sec, (u32)INT32_MAX) * NSEC, 0);
	if (left && left < NSEC)
		return 1;
	return (left + NSEC / 2) / NSEC;
}
