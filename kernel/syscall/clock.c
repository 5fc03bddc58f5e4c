/*
 * System calls that read clocks and sleep. Programs read the time often, so its division into
 * seconds is cached: another time within the same second needs no division.
 */
#include "arch/time.h"
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "internal.h"
#include "proc/alarm.h"
#include "proc/rusage.h"
#include "sched/task.h"
#include "sched/timer.h"
#include "sched/wait.h"

#define NSEC 1000000000u
#define TIMER_ABSTIME 1u
#define ITIMER_REAL 0u
#define MAX_SEC 9000000000ll /* its value in ns fits in an s64 */

enum {
	CLOCK_REALTIME,
	CLOCK_MONOTONIC,
	CLOCK_PROCESS_CPUTIME,
	CLOCK_THREAD_CPUTIME,
	CLOCK_MONOTONIC_RAW,
	CLOCK_REALTIME_COARSE,
	CLOCK_MONOTONIC_COARSE,
	CLOCK_BOOTTIME,
};

/* For times that the kernel returns; the low words are enough for them. */
struct timespec64_words {
	u32 sec, sec_high, nsec, nsec_high;
};

struct itimerval32 {
	struct timeval32 interval, value;
};

s64 timespec_ns(s64 sec, s64 nsec)
{
	if (sec < 0 || nsec < 0 || nsec >= NSEC)
		return -1;
	return sec > MAX_SEC ? MAX_SEC * NSEC : sec * NSEC + nsec;
}

/* The second of the last conversion. */
struct second {
	u64 start_ns;
	u32 sec;
};

static struct second monotonic_second, other_second;

/* Sets *s to the second of ns. Returns the offset of ns in it. */
static out_of_line u32 second_enter(struct second *s, u64 ns)
{
	s->sec = ns / NSEC;
	s->start_ns = (u64)s->sec * NSEC;
	return ns - s->start_ns;
}

static inline u32 second_split(struct second *s, u64 ns, u32 *nsec)
{
	u64 past = ns - s->start_ns;

	*nsec = past;
	if (unlikely(past >> 32 || (u32)past >= NSEC))
		*nsec = second_enter(s, ns);
	return s->sec;
}

u32 split_ns(u64 ns, u32 *nsec)
{
	return second_split(&other_second, ns, nsec);
}

/* Returns 0 or -EINVAL. */
static int clock_read(u32 clock, u64 *ns)
{
	switch (clock) {
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		*ns = clock_ns();
		return 0;
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		*ns = clock_realtime_ns();
		return 0;
	case CLOCK_PROCESS_CPUTIME:
	case CLOCK_THREAD_CPUTIME:
		*ns = task_utime_ns(current) + task_stime_ns(current);
		return 0;
	default:
		return -EINVAL;
	}
}

long sys_clock_gettime64(u32 clock, void *user)
{
	struct timespec64_words ts = { .sec_high = 0 };
	u64 ns;

	if (likely(clock == CLOCK_MONOTONIC)) {
		ts.sec = second_split(&monotonic_second, clock_ns(), &ts.nsec);
	} else {
		if (clock_read(clock, &ns))
			return -EINVAL;
		ts.sec = split_ns(ns, &ts.nsec);
	}
	return copy_to_user(user, &ts, sizeof(ts));
}

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

static struct timeval32 to_timeval(u64 ns)
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
