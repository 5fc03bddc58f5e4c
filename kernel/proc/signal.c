/*
 * Delivering signals: one action per signal.
 *
 * A task that has been sent a signal (sched/signal.c) handles it when it is about to return to user
 * mode (signal_deliver). An interrupted system call has returned -ERESTARTSYS and is restarted
 * unless a handler without SA_RESTART runs.
 *
 * Left out: queues (real-time signals are merged like the others), alternative stacks, and
 * stopping: SIGSTOP and the terminal's stop signals are ignored by default.
 */
#include "proc/signal.h"
#include "arch/irq.h"
#include "errno.h"
#include "internal.h"
#include "lib/printf.h"
#include "mm/control.h"
#include "mm/policy_core.h"
#include "proc/alarm.h"

#define SYNCHRONOUS                                                                                \
	(SIG_BIT(SIGSEGV) | SIG_BIT(SIGBUS) | SIG_BIT(SIGILL) | SIG_BIT(SIGFPE) | SIG_BIT(SIGTRAP))

void signal_exec(struct task_struct *t)
{
	t->sig.altstack = (struct altstack){ 0 };
	for (int i = 0; i < NSIG; i++) {
		if (t->sig.hand->actions[i].handler != SIG_IGN)
			t->sig.hand->actions[i] = (struct k_sigaction){ .handler = SIG_DFL };
	}
}

static int lowest(u64 set)
{
	u32 low = set;

	return low ? __builtin_ctz(low) + 1 : __builtin_ctz(set >> 32) + 33;
}

/* Takes the most urgent signal: first one that the task itself caused, then by number. Returns 0 if
 * none. */
static int take_signal(struct task_struct *t)
{
	unsigned long flags = irq_save();
	u64 set = signals_deliverable(&t->sig);
	int sig = 0;

	if (set & SIG_BIT(SIGKILL))
		set = SIG_BIT(SIGKILL);
	else if (set & SYNCHRONOUS)
		set &= SYNCHRONOUS;
	if (set) {
		sig = lowest(set);
		t->sig.pending &= ~SIG_BIT(sig);
	}
	irq_restore(flags);
	if (sig == SIGALRM)
		alarm_restart();
	return sig;
}

static bool kills(const struct task_struct *t, int sig)
{
	return !(SIGNALS_IGNORED & SIG_BIT(sig)) &&
	       (t != init_process || SYNCHRONOUS & SIG_BIT(sig));
}

static void run_handler(struct pt_regs *regs, int sig)
{
	struct task_struct *t = current;
	struct k_sigaction *sa = &t->sig.hand->actions[sig - 1], copy = *sa;
	u64 mask = t->restore_blocked ? t->saved_blocked : t->sig.blocked;

	t->restore_blocked = false;
	if (thread_push_signal(regs, sig, &copy, mask))
		do_exit(SIGSEGV);
	if (copy.flags & SA_RESETHAND)
		sa->handler = SIG_DFL;
	t->sig.blocked |= copy.mask | (copy.flags & SA_NODEFER ? 0 : SIG_BIT(sig));
	t->sig.blocked &= ~UNBLOCKABLE;
}

/* Handles signals without a handler. Returns the next signal with a handler, or 0. */
static int next_handled(struct task_struct *t)
{
	int sig;

	while ((sig = take_signal(t))) {
		u32 handler = t->sig.hand->actions[sig - 1].handler;

		if (handler == SIG_DFL && kills(t, sig))
			do_exit(sig);
		if (handler != SIG_DFL && handler != SIG_IGN)
			return sig;
	}
	return 0;
}

void signal_deliver(struct pt_regs *regs)
{
	struct task_struct *t = current;
	bool restart = regs_in_syscall(regs) && regs_result(regs) == -ERESTARTSYS;
	int sig;

	while ((sig = next_handled(t))) {
		if (restart && !(t->sig.hand->actions[sig - 1].flags & SA_RESTART))
			regs_set_result(regs, -EINTR);
		else if (restart)
			regs_restart_syscall(regs);
		restart = false;
		run_handler(regs, sig);
	}
	if (restart)
		regs_restart_syscall(regs);
	if (t->restore_blocked) {
		t->restore_blocked = false;
		t->sig.blocked = t->saved_blocked;
	}
	signal_recalc();
}

void exit_to_user(struct pt_regs *regs)
{
	u32 work;

	while ((work = current->work)) {
		irq_enable();
		if (work & WORK_SIGNAL)
			signal_deliver(regs);
		if (work & WORK_ADMIT) {
			task_clear_work(current, WORK_ADMIT);
			policy_admit_current();
		}
		if (work & WORK_RESCHED)
			schedule();
		irq_disable();
	}
}
