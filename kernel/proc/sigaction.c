/* What a program decides about signals: which are blocked, and which have handlers. */
#include "arch/irq.h"
#include "internal.h"
#include "proc/alarm.h"
#include "proc/signal.h"

void signal_set_blocked(u64 mask)
{
	current->sig.blocked = mask & ~UNBLOCKABLE;
	signal_recalc();
}

void signal_set_action(int sig, const struct k_sigaction *sa)
{
	unsigned long flags = irq_save();

	current->sig.hand->actions[sig - 1] = *sa;
	if (signal_ignored(current, sig))
		current->sig.pending &= ~SIG_BIT(sig);
	else if (sig == SIGALRM && !(current->sig.pending & SIG_BIT(sig)))
		alarm_restart();
	irq_restore(flags);
	signal_recalc();
}
