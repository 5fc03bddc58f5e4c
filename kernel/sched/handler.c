/* What a handler of a signal needs: where the signal came from, and the alternate stack. */
#include "errno.h"
#include "sched/current.h"
#include "sched/signal.h"

/* Values of si_code. */
enum { SI_USER = 0, SI_TKILL = -6, SI_KERNEL = 0x80, CLD_EXITED = 1, CLD_KILLED = 2 };

void signal_origin(int sig, int *code, u32 *pid, u32 *status)
{
	const struct sighand *hand = current->sig.hand;
	u32 sender = sig <= NR_SENDERS ? hand->sender[sig - 1] : 0;

	*code = !sender ? SI_KERNEL : sender & SENT_TO_THREAD ? SI_TKILL : SI_USER;
	*pid = sender & ~SENT_TO_THREAD;
	*status = 0;
	if (sig == SIGCHLD && hand->child_status != NOT_ENDED) {
		u32 killed_by = hand->child_status & 0x7f;

		*code = killed_by ? CLD_KILLED : CLD_EXITED;
		*status = killed_by ? killed_by : hand->child_status >> 8;
	}
}

bool signal_on_altstack(u32 sp)
{
	const struct altstack *s = &current->sig.altstack;

	return sp > s->sp && sp - s->sp <= s->size;
}

int signal_set_altstack(const struct altstack *new, u32 sp)
{
	if (signal_on_altstack(sp))
		return -EPERM;
	if (new->flags &&new->flags != SS_ONSTACK &&new->flags != SS_DISABLE)
		return -EINVAL;
	if (new->flags == SS_DISABLE) {
		current->sig.altstack = (struct altstack){ .flags = SS_DISABLE };
		return 0;
	}
	if (new->size < MIN_ALTSTACK)
		return -ENOMEM;
	current->sig.altstack = *new;
	return 0;
}
