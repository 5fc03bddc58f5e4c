/* Shared by the files of sched/. */
#ifndef SCHED_INTERNAL_H
#define SCHED_INTERNAL_H

#include "fair.h"
#include "sched/current.h"
#include "types.h"

extern struct fair_rq fair_rq;
extern struct task_struct idle_task; /* runs when no other task can; runs the boot */

static inline struct task_struct *task_of(struct sched_entity *se)
{
	return container_of(se, struct task_struct, se);
}

/* Number of tasks that sleep with in_iowait set. */
extern u32 nr_iowait;

/* Settles idle time; called before nr_iowait changes. Interrupts off. */
void idle_settle(void);

/* Program the hardware: deferrable timers do not wake an idle machine. Interrupts off. */
void timer_enter_idle(void);
void timer_leave_idle(void);
/* Restarts the tick if it stopped while the machine was idle. */
void tick_resume(void);

/* Called at each timer interrupt: raises event_quiet if the moment is quiet (still.c). */
void still_timer_interrupt(void);
/* Move the start of a running measurement by the cycles that the clock stood still. Interrupts
 * off. */
void psi_move_stamp(u64 cycles);
void idle_move_stamp(u64 cycles);

void loadavg_init(void);
void psi_init(void);

#endif
