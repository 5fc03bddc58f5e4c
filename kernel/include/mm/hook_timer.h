/*
 * The time that a policy or a guard spends in its hooks; one timer for each of the two.
 *
 * A hook takes microseconds. One that took longer than HOOK_LIMIT_NS has broken a rule when it
 * returns, and one that has not returned after HOOK_HUNG_NS is found by the timer tick, which can
 * only stop the machine. Hooks do not nest: entering a second one means that the first has slept,
 * or called what calls hooks. (A guard's spare runs inside the policy's select, on its own timer.)
 *
 * Unless a run is exact, the clock is the host's: it goes on while the host runs something else. The
 * machine then has no ticks, so a hook must also have run during HOOK_LIMIT_TICKS of them. A machine
 * that was stopped gets one tick for all that it has missed.
 *
 * enter and leave are part of every page fault: so they are inline.
 */
#ifndef MM_HOOK_TIMER_H
#define MM_HOOK_TIMER_H

#include "arch/time.h"
#include "types.h"

#define HOOK_LIMIT_NS 200000000u
#define HOOK_HUNG_NS (2 * HOOK_LIMIT_NS)
/* Half of the ticks that come in this time. */
#define HOOK_LIMIT_TICKS 25u
#define HOOK_HUNG_TICKS (2 * HOOK_LIMIT_TICKS)
/* So many cycles may be more than the limit: no processor counts fewer than 50 in a us. */
#define HOOK_LIMIT_CYCLES 10000000u

struct hook_timer {
	const char *kind; /* "policy" or "guard" */
	const char *running; /* the hook that is running; NULL: none */
	u64 since; /* cycles_now() when it began */
	u64 cycles; /* spent in hooks since boot */
	u32 nr_ticks; /* of the machine, while it has been running */
};

extern struct hook_timer policy_timer, guard_timer;

void __noreturn hook_is_nested(const struct hook_timer *t, const char *hook);
/* For a hook that has returned: is it too slow? */
void hook_may_be_slow(struct hook_timer *t, u64 cycles);

static inline void hook_enter(struct hook_timer *t, const char *hook)
{
	if (unlikely(t->running))
		hook_is_nested(t, hook);
	t->nr_ticks = 0;
	t->since = cycles_now();
	t->running = hook;
}

/* Returns the cycles that the hook took. Another policy may be switched on afterwards. */
static inline u64 hook_leave(struct hook_timer *t)
{
	u64 cycles = cycles_now() - t->since;

	t->cycles += cycles;
	if (unlikely(cycles > HOOK_LIMIT_CYCLES))
		hook_may_be_slow(t, cycles);
	t->running = NULL;
	return cycles;
}

/* At each tick: stops the machine if a hook has been running for too long. */
void hook_watch(void);
/* The same when somebody else has found out that it does not return. */
void __noreturn hook_hangs(const struct hook_timer *t);
/* For a panic: prints which hooks are running, if any are. */
void hook_report(void);

#endif
