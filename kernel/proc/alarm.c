/*
 * ITIMER_REAL: SIGALRM when a time has passed, once or again and again. A periodic timer starts its
 * next period when the signal is taken, or is no longer ignored (periods missed by then are left
 * out, the rhythm is kept): so however short the periods, a task that does not run, or does not
 * listen, costs nobody an interrupt.
 */
#include "proc/alarm.h"
#include "arch/time.h"
#include "proc/task.h"

static void alarm_fire(struct timer *timer)
{
	signal_send(container_of(timer, struct task_struct, alarm), SIGALRM);
}

/* When the period under way ends, of a timer that has expired. */
static u64 next_expiry_ns(u64 now)
{
	u64 last = current->alarm.expires_ns, interval = current->alarm_interval_ns;

	if (last + interval > now)
		return last + interval;
	return now + interval - (now - last) % interval;
}

void alarm_restart(void)
{
	if (!current->alarm.armed && current->alarm_interval_ns)
		timer_start(&current->alarm, next_expiry_ns(clock_ns()));
}

u64 alarm_left_ns(void)
{
	const struct timer *timer = &current->alarm;
	u64 now = clock_ns();

	if (timer->armed)
		return timer->expires_ns > now ? timer->expires_ns - now : 1;
	return current->alarm_interval_ns ? next_expiry_ns(now) - now : 0;
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
