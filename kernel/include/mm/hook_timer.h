/*
 * Measures the time that a policy or a guard spends in its hooks; each of the two has its own timer.
 *
 * A hook takes microseconds. A hook that took longer than HOOK_LIMIT_NS has broken a rule when it
 * returns. A hook that has not returned after HOOK_HUNG_NS is detected by the timer tick, which can only
 * stop the machine. Hooks do not nest: entering a second hook means that the first one slept or called a
 * function that calls hooks. (A guard's spare runs inside the policy's select, on its own timer.)
 *
 * Unless a run is exact, the clock is the host's, which continues while the host runs other
 * programs. The guest then gets no ticks, so a hook is too slow only if it also ran during
 * HOOK_LIMIT_TICKS of them. A guest that was stopped gets a single tick for all that it missed.
 *
 * enter and leave are part of every page fault, and therefore inline.
 */
#ifndef MM_HOOK_TIMER_H
#define MM_HOOK_TIMER_H

#include "arch/time.h"
#include "types.h"

#define HOOK_LIMIT_NS 200000000u
#define HOOK_HUNG_NS (2 * HOOK_LIMIT_NS)
/* Half of the ticks that normally occur in HOOK_LIMIT_NS. */
#define HOOK_LIMIT_TICKS 25u
#define HOOK_HUNG_TICKS (2 * HOOK_LIMIT_TICKS)
/* More cycles than this may exceed the limit: every supported processor counts at least 50 per us. */
#define HOOK_LIMIT_CYCLES 10000000u

struct hook_timer {
	const char *kind; /* "policy" or "guard" */
	const char *running; /* the hook that is running; NULL: none */
	u64 since; /* cycles_now() when it began */
	u64 cycles; /* spent in hooks since boot */
	u32 nr_ticks; /* the machine's ticks since the hook began */
};

extern struct hook_timer policy_timer, guard_timer;

void __noreturn hook_is_nested(const struct hook_timer *t, const char *hook);
/* Called for a hook that has returned: checks whether it took too long. */
void hook_may_be_slow(struct hook_timer *t, u64 cycles);

static inline void hook_enter(struct hook_timer *t, const char *hook)
{
	if (unlikely(t->running))
		hook_is_nested(t, hook);
	t->nr_ticks = 0;
	t->since = cycles_now();
	t->running = hook;
}

/* Returns the cycles that the hook took. May switch to another policy if the hook was too slow. */
static inline u64 hook_leave(struct hook_timer *t)
{
	u64 cycles = cycles_now() - t->since;

	t->cycles += cycles;
	if (unlikely(cycles > HOOK_LIMIT_CYCLES))
		hook_may_be_slow(t, cycles);
	t->running = NULL;
	return cycles;
}

/* Called at each tick: stops the machine if a hook has been running for too long. */
void hook_watch(void);
/* Stops the machine because a hook does not return, when something other than the tick detects it. */
void __noreturn hook_hangs(const struct hook_timer *t);
/* Called by a panic: prints which hooks are running, if any. */
void hook_report(void);

#endif
