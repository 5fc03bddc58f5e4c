/*
 * The clock and the one-shot timer interrupt. Time is counted in TSC cycles (raw and cheap, for
 * accumulating) and in nanoseconds since boot. In an exact run the TSC is the virtual clock: one
 * cycle is one nanosecond.
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

/* Cycles since boot, without those for which the clock was stopped (below). Stamps an event whose
 * date is computed later. */
static inline u64 clock_stamp(void)
{
	extern u64 clock_zero;

	return cycles_now() - clock_zero;
}

u64 cycles_to_ns(u64 cycles);
u64 clock_ns(void); /* nanoseconds since boot, monotonic */
u64 clock_realtime_ns(void); /* nanoseconds since 1970 */
u64 clock_cycles(void); /* cycles_now(), or the instant of the stop while the clock is stopped */

/* Returns true if time is virtual, so that it stops while the host runs something else. */
bool clock_is_exact(void);

/* Sets clock_ns to 0. Called once, when the command line has been processed. */
void clock_begin(void);

/* In an exact run the clock stands still from clock_stop() to clock_go(), unless a timer interrupt
 * is being handled; otherwise it goes on. Caller has interrupts off. clock_lost() returns the
 * number of cycles that clock_go() will skip. The caller moves the stamps from cycles_now() by that
 * number and calls clock_go() within `spare` cycles. */
void clock_stop(void);
u64 clock_lost(u32 spare);
void clock_go(void);

/* Measures the TSC against the PIT; reads the RTC. Interrupts must be set up. */
void time_init(void);

/* Requests one timer interrupt at about when_ns (clock_ns time), not before now; 0: none. The
 * hardware reaches 54 ms; it then fires early and the timer core asks again. may_be_early: an
 * earlier interrupt that is already requested is enough. */
void timer_arm(u64 when_ns, bool may_be_early);
/* Drops the request. Interrupts are off and stay off. */
void timer_disarm(void);

#endif
