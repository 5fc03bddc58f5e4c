/* RLIMIT_CPU, checked at each tick: SIGXCPU at the soft limit and then, as on Linux, once more for every
 * further second, since the soft limit moves; SIGKILL at the hard limit. */
#include "lib/stages.h"
#include "observe/events.h"
#include "sched/task.h"

#define NS_PER_S 1000000000u

static void check_cpu_limit(void *none)
{
	struct rlimit *limit = &current->limits[RLIMIT_CPU];
	u64 used_s;

	(void)none;
	if (limit->soft == RLIM_INFINITY || !current->mm)
		return;
	used_s = (task_utime_ns(current) + task_stime_ns(current)) / NS_PER_S;
	if (used_s >= limit->hard) {
		signal_send(current, SIGKILL);
	} else if (used_s >= limit->soft) {
		signal_send(current, SIGXCPU);
		limit->soft = used_s + 1;
	}
}

static void cpu_limit_init(void)
{
	listen_tick(check_cpu_limit);
}

AT_STAGE(parts, 70, cpu_limit_init);
