/*
 * Inspecting the machine without changing it.
 *
 * Measurements by the kernel cost instructions, and in an exact run these take time: more frequent
 * sampling would change the run, since every disk request would come a little later. So the clock
 * stands still meanwhile (arch/time.h). A running measurement is stored as the cycle count at its
 * beginning: these stamps are moved by the number of cycles that the clock stood still.
 *
 * A quiet moment is a timer interrupt of a program in user mode, or of an idle machine. The kernel
 * is not preempted, so none of its structures is being changed then. The timer that has just fired
 * does not count.
 */
#include "sched/still.h"

#include "arch/irq.h"
#include "arch/machine.h"
#include "arch/time.h"
#include "internal.h"
#include "observe/events.h"
#include "sched/task.h"

#define SPARE 1000u /* cycles for moving the stamps, */
#define SPARE_PER_TASK 50u

static void move_stamps(u64 cycles)
{
	struct task_struct *t;

	for_each_task(t)
		acct_skip(&t->acct, cycles);
	acct_skip(&idle_task.acct, cycles);
	psi_move_stamp(cycles);
	idle_move_stamp(cycles);
}

void still(void (*fn)(void))
{
	unsigned long flags = irq_save();

	clock_stop();
	fn();
	watchdog_feed_still();
	move_stamps(clock_lost(SPARE + nr_tasks() * SPARE_PER_TASK));
	clock_go();
	irq_restore(flags);
}

static void raise_quiet(void)
{
	event_quiet(NULL);
}

void still_timer_interrupt(void)
{
	if (irq_found_program() || sched_idling())
		still(raise_quiet);
}
