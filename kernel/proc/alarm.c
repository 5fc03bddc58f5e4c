/*
 * ITIMER_REAL: SIGALRM when a time has passed, once or again and again. A periodic timer starts its
 * next period when the signal is taken (periods missed by then are left out, the rhythm is kept):
 * so however short the periods, a task that does not run costs nobody an interrupt.
 */
#include "proc/alarm.h"
#include "arch/time.h"
#include "proc/task.h"

static void alarm_fire(struct timer *timer)
{
	signal_send(container_of(timer, struct task_struct, alarm), SIGALRM);
}

void alarm_restart(void)
{
	struct timer *timer = &current->alarm;
	u64 interval = current->alarm_interval_ns, now = clock_ns();

	if (timer->armed || !interval)
		return;
	if (timer->expires_ns + interval > now)
		timer_start(timer, timer->expires_ns + interval);
	else
		timer_start(timer, now + interval - (now - timer->expires_ns) % interval);
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
	current->alarm_interval_ns = after_ns ? interval_ns : 0;
	if (!after_ns)
		return;
	timer_setup(timer, alarm_fire, false);
	timer_start(timer, clock_ns() + after_ns);
}
