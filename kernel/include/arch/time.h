/*
 * The clock and the one-shot timer interrupt. Time is counted in TSC cycles (raw and cheap: use
 * it to accumulate) and in nanoseconds since boot. In an exact run the TSC is the virtual
 * clock: one cycle is one nanosecond.
 */
#ifndef ARCH_TIME_H
#define ARCH_TIME_H

#include "types.h"

static inline u64 cycles_now(void)
{
	u64 v;

	__asm__ volatile("rdtsc" : "=A"(v));
	return v;
}

/* Cycles since boot, without those for which the clock stood (below): for a date that is told later. */
static inline u64 clock_stamp(void)
{
	extern u64 clock_zero;

	return cycles_now() - clock_zero;
}

u64 cycles_to_ns(u64 cycles);
u64 clock_ns(void); /* nanoseconds since boot, monotonic */
u64 clock_realtime_ns(void); /* nanoseconds since 1970 */
u64 clock_cycles(void); /* cycles_now(); while the clock stands, the instant at which it stopped */

/* Is time virtual, so that it stands while the host runs something else? */
bool clock_is_exact(void);

/* Boot ends its reading of the command line: here clock_ns is 0. */
void clock_begin(void);

/* In an exact run the clock stands still from clock_stop() to clock_go(), unless a timer interrupt is
 * under way; otherwise it goes on. Interrupts are off. clock_lost() says how many cycles clock_go()
 * will have skipped: what was stamped with cycles_now() has to be moved by them, in at most
 * spare cycles. */
void clock_stop(void);
u64 clock_lost(u32 spare);
void clock_go(void);

/* Measures the TSC against the PIT; reads the RTC. Interrupts must be set up. */
void time_init(void);

/* Asks for one timer interrupt at about when_ns (clock_ns time), not earlier than now; 0: none.
 * The hardware reaches 54 ms; it then fires early and the timer core asks again. may_be_early: one
 * that was asked for before will do, too. */
void timer_arm(u64 when_ns, bool may_be_early);

/* Called by the timer interrupt: supplied by sched/timer.c. */
void timer_interrupt(void);

#endif
