/*
 * Detects a hook that never returns. The clock for hooks stands still in these programs (arch/time.h), so
 * the rule "time" cannot be broken; processor time is measured instead. Only a hook that is in the same call
 * at several ticks is stopped; the host's speed does not matter.
 */
#include "host/fake_core.h"
#include <signal.h>
#include <string.h>
#include <sys/time.h>

enum { MOST_BEATS = 5 };

static volatile u32 nr_looks; /* at the clock: two for each call of a hook */

u64 cycles_now(void)
{
	nr_looks++;
	return core_now_ns;
}

static void look_at(const struct hook_timer *t)
{
	const char *hook = t->running;

	if (hook)
		rule_fatal(t, "time", hook, "hook %s does not return: a loop in it has no end%s",
			   hook, strcmp(hook, "select") ? "" : "; each turn must ask vm_scan_more");
}

static void beat(int number)
{
	static u32 looks_before, nr_beats;

	(void)number;
	nr_beats = nr_looks == looks_before ? nr_beats + 1 : 0;
	looks_before = nr_looks;
	if (nr_beats < MOST_BEATS)
		return;
	nr_beats = 0;
	look_at(&guard_timer);
	look_at(&policy_timer);
}

void host_watch(u32 beat_ms)
{
	struct timeval each = { beat_ms / 1000, beat_ms % 1000 * 1000 };
	struct itimerval beats = { each, each };
	/* A test that expects the panic never returns from the handler. */
	struct sigaction on_beat = { .sa_handler = beat, .sa_flags = SA_NODEFER };

	sigaction(SIGVTALRM, &on_beat, NULL);
	setitimer(ITIMER_VIRTUAL, &beats, NULL);
}
