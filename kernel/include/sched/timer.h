/*
 * One-shot timers in a red-black tree by expiry. The hardware timer is armed for the earliest one.
 * Without timers it stays silent, so an idle machine costs the host nothing.
 */
#ifndef SCHED_TIMER_H
#define SCHED_TIMER_H

#include "lib/rbtree.h"
#include "types.h"

struct timer {
	struct rb_node node;
	u64 expires_ns;
	void (*fn)(struct timer *); /* irq context */
	bool armed;
	bool deferrable; /* does not wake an otherwise idle machine */
};

void timer_setup(struct timer *t, void (*fn)(struct timer *), bool deferrable);
/* Arms the timer, or rearms it; irq-safe. A time in the past fires at the next interrupt. */
void timer_start(struct timer *t, u64 expires_ns);
void timer_stop(struct timer *t);
/* Returns the earliest non-deferrable expiry, or 0 if none is armed. */
u64 timer_next_ns(void);

/* Called by the timer interrupt (arch/x86/time.c). */
void timer_interrupt(void);

/* Sleeps ns of machine time. Returns 0, or -ERESTARTSYS with *left set if a signal came. */
int sleep_ns(u64 ns, u64 *left);
/* Like sleep_ns, but never interrupted: for kernel threads. */
void ksleep_ns(u64 ns);

#endif
