/*
 * The idle task: waits for interrupts while no task can run, and measures that time.
 *
 * An idle machine has no tick. The hardware timer is armed for the earliest timer that may wake the
 * machine. Without one, the machine sleeps until a device interrupts, and the watchdog is paused.
 * If no input can come either (start-up says so, and every request to a device has a timer
 * running), no task will ever run again: that is a deadlock, and is reported at once.
 *
 * Idle time is iowait while some task sleeps with in_iowait set, and is settled when that changes.
 * Work of interrupt handlers meanwhile counts as idle.
 */
#include "internal.h"
#include "arch/irq.h"
#include "arch/machine.h"
#include "arch/time.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "observe/events.h"
#include "sched/task.h"
#include "sched/timer.h"

static bool idling; /* irq */
static bool may_be_typed; /* input may come at any time */
static u64 idle_since, idle_cycles, iowait_cycles;

void idle_settle(void)
{
	u64 now;

	if (!idling)
		return;
	now = clock_cycles();
	idle_cycles += now - idle_since;
	if (nr_iowait)
		iowait_cycles += now - idle_since;
	idle_since = now;
}

void idle_move_stamp(u64 cycles)
{
	idle_since += cycles;
}

bool sched_idling(void)
{
	return idling;
}

/* No task can ever run again. */
static void __noreturn report_deadlock(void)
{
	struct task_struct *t;

	printk("hang: every task sleeps and nothing is left that could wake one\n");
	printk("%5s %5s %-15s %s\n", "PID", "STATE", "COMMAND", "WORK");
	for_each_task(t)
		printk("%5d %5d %-15s %#x\n", t->pid, t->state, t->comm, t->work);
	machine_exit(EXIT_HANG);
}

static void wait_for_interrupt(void)
{
	timer_enter_idle();
	if (!timer_next_ns()) {
		if (!may_be_typed)
			report_deadlock();
		watchdog_pause();
	}
	cpu_idle_wait();
	irq_disable();
}

/* Waits until a task can run, and measures the idle time. Interrupts are off. */
static void idle_until_work(void)
{
	event_idle_begins(NULL);
	idling = true;
	idle_since = cycles_now();
	while (!fair_rq.nr_running)
		wait_for_interrupt();
	idle_settle();
	idling = false;
	event_idle_ends(NULL);
	timer_leave_idle();
	tick_resume();
}

void __noreturn cpu_idle(bool interactive)
{
	ASSERT(current == &idle_task);
	may_be_typed = interactive;
	irq_disable();
	timer_leave_idle();
	tick_resume();
	for (;;) {
		irq_disable();
		if (!fair_rq.nr_running)
			idle_until_work();
		irq_enable();
		schedule();
	}
}

static u64 settled_ns(const u64 *cycles)
{
	unsigned long flags = irq_save();
	u64 v;

	idle_settle();
	v = *cycles;
	irq_restore(flags);
	return cycles_to_ns(v);
}

u64 sched_idle_ns(void)
{
	return settled_ns(&idle_cycles);
}

u64 sched_iowait_ns(void)
{
	return settled_ns(&iowait_cycles);
}
