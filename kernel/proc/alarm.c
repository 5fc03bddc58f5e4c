/*
 * ITIMER_REAL: sends SIGALRM after a time, once or periodically. A periodic timer starts its next
 * period when the signal is taken, or is no longer ignored. Periods missed by then are skipped, and
 * the rhythm is kept. So even very short periods cost no interrupts while the task does not run or
 * ignores the signal.
 */
#include "proc/alarm.h"
#include "arch/time.h"
#include "sched/current.h"

static void alarm_fire(struct timer *timer)
{
	signal_send(container_of(timer, struct task_struct, alarm), SIGALRM);
}

/* Returns the end of the current period of an expired timer. */
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
