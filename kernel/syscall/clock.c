/*
 * Reading clocks. Programs read the time often, so its division into seconds is cached: another
 * time within the same second needs no division.
 */
#include "arch/time.h"
#include "arch/uaccess.h"
#include "calls.h"
#include "clock.h"
#include "errno.h"
#include "internal.h"
#include "sched/task.h"

/* For times that the kernel returns; the low words are enough for them. */
struct timespec64_words {
	u32 sec, sec_high, nsec, nsec_high;
};

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

int clock_read(u32 clock, u64 *ns)
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
