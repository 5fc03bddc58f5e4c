/*
 * Reports a policy that crashes or does not return as a broken rule, with the hook.
 *
 * A hook may not take longer than two ticks of a clock that counts this program's own processor
 * time, so the host's load does not matter.
 */
#include "vmsim.h"

#include "lib/string.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#define BEAT_S 1
#define SEE_ABOVE "see what is said above"

static void beat(int signal)
{
	static u64 references, looked;
	static const char *before;
	static u32 budget;
	bool moved = counts.references != references || counts.looked != looked ||
		     seam_budget() != budget;

	(void)signal;
	if (before && before == policy_timer.running && !moved)
		hook_hangs(&policy_timer);
	before = policy_timer.running;
	references = counts.references;
	looked = counts.looked;
	budget = seam_budget();
}

static void crashed(int signal)
{
	rule_fatal(&policy_timer, "crash", policy_timer.running ?: "", "%s",
		   signal == SIGABRT ? SEE_ABOVE : strsignal(signal));
}

/* The sanitizers, if they are linked, have already printed what was wrong. */
static void sanitizer_ends(void)
{
	rule_fatal(&policy_timer, "crash", policy_timer.running ?: "", SEE_ABOVE);
}

/* The two sanitizers do not share their callbacks; this one ends with a signal. */
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1";
}

__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

void host_watch(void)
{
	struct itimerval beats = { { BEAT_S, 0 }, { BEAT_S, 0 } };

	signal(SIGVTALRM, beat);
	setitimer(ITIMER_VIRTUAL, &beats, NULL);
	signal(SIGABRT, crashed);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(sanitizer_ends);
		return;
	}
	signal(SIGSEGV, crashed);
	signal(SIGBUS, crashed);
	signal(SIGFPE, crashed);
	signal(SIGILL, crashed);
}
