/* ITIMER_REAL: SIGALRM when a time has passed, once or again and again. */
#include "proc/alarm.h"
#include "arch/time.h"
#include "proc/task.h"

static void alarm_fire(struct timer *timer)
{
	struct task_struct *t = container_of(timer, struct task_struct, alarm);

	signal_send(t, SIGALRM);
	if (t->alarm_interval_ns)
		timer_start(timer, timer->expires_ns + t->alarm_interval_ns);
}

u64 alarm_left_ns(void)
{
	const struct timer *timer = &current->alarm;
	u64 now = clock_ns();

	if (!timer->armed)
		return 0;
	return timer->expires_ns > now ? timer->expires_ns - now : 1;
}

void alarm_set(u64 after_ns, u64 interval_ns)
{
	struct timer *timer = &current->alarm;

	timer_stop(timer);
	current->alarm_interval_ns = interval_ns;
	if (!after_ns)
		return;
	timer_setup(timer, alarm_fire, false);
	timer_start(timer, clock_ns() + after_ns);
}
