/*
 * Sending signals: a pending bit and a blocked bit per signal.
 *
 * Sending sets the pending bit and, if the signal is not blocked, WORK_SIGNAL, and wakes an
 * interruptible sleeper. The rest happens when the task is about to return to user mode
 * (proc/signal.c). An ignored signal is dropped when it is sent.
 *
 * Init gets only signals for which it has a handler, so that it cannot be killed by mistake.
 */
#include "sched/signal.h"
#include "arch/irq.h"
#include "arch/task.h"
#include "errno.h"
#include "lib/printf.h"
#include "sched/current.h"
#include "sched/sched.h"
#include "sched/task.h"

bool signal_pending(const struct task_struct *t)
{
	return signals_deliverable(&t->sig) != 0;
}

bool signal_pending_current(void)
{
	return signals_deliverable(&current->sig) != 0;
}

bool fatal_signal_pending(const struct task_struct *t)
{
	return t->sig.pending & SIG_BIT(SIGKILL);
}

bool signal_ignored(const struct task_struct *t, int sig)
{
	u32 handler;

	if (!t->sig.hand)
		return true;
	handler = t->sig.hand->actions[sig - 1].handler;
	if (handler == SIG_DFL)
		return SIGNALS_IGNORED & SIG_BIT(sig) || t->pid == INIT_PID;
	return handler == SIG_IGN;
}

/* Sets the pending bit, and records the sender of the first signal. Interrupts are off. */
static void mark_pending(struct task_struct *t, int sig, u32 sender)
{
	if (t->sig.pending & SIG_BIT(sig))
		return;
	t->sig.pending |= SIG_BIT(sig);
	if (sig <= NR_SENDERS)
		t->sig.hand->sender[sig - 1] = sender;
	if (sig == SIGCHLD)
		t->sig.hand->child_status = NOT_ENDED;
}

void signal_send_from(struct task_struct *t, int sig, u32 sender)
{
	unsigned long flags;

	if (sig < 1 || sig > NSIG || !t->sig.hand)
		return;
	flags = irq_save();
	if (t->sig.blocked & SIG_BIT(sig)) {
		mark_pending(t, sig, sender);
	} else if (!signal_ignored(t, sig)) {
		mark_pending(t, sig, sender);
		task_set_work(t, WORK_SIGNAL);
		if (t->state == TASK_INTERRUPTIBLE)
			wake_up_process(t);
	}
	irq_restore(flags);
}

void signal_send(struct task_struct *t, int sig)
{
	signal_send_from(t, sig, 0);
}

void signal_parent(const struct task_struct *child)
{
	struct task_struct *t = child->parent;
	unsigned long flags = irq_save();
	bool first = !(t->sig.pending & SIG_BIT(SIGCHLD));

	signal_send_from(t, SIGCHLD, child->pid);
	if (first && t->sig.hand)
		t->sig.hand->child_status = child->exit_code;
	irq_restore(flags);
}

int signal_group(int pgid, int sig, u32 sender)
{
	unsigned long flags = irq_save();
	struct task_struct *t;
	int result = -ESRCH;

	for_each_task(t) {
		if (t->pgid == pgid && !(t->flags & TF_KTHREAD)) {
			signal_send_from(t, sig, sender);
			result = 0;
		}
	}
	irq_restore(flags);
	return result;
}

static const char *signal_name(int sig)
{
	switch (sig) {
	case SIGSEGV:
		return "SIGSEGV";
	case SIGBUS:
		return "SIGBUS";
	case SIGILL:
		return "SIGILL";
	case SIGFPE:
		return "SIGFPE";
	case SIGTRAP:
		return "SIGTRAP";
	default:
		return "signal";
	}
}

/* If the signal is blocked or has no handler, it kills the task. */
void force_signal(int sig, u32 addr)
{
	struct task_struct *t = current;
	struct k_sigaction *sa = &t->sig.hand->actions[sig - 1];
	unsigned long flags;

	if (sa->handler == SIG_IGN || t->sig.blocked & SIG_BIT(sig))
		sa->handler = SIG_DFL;
	if (sa->handler == SIG_DFL)
		printk("%s[%d]: %s at address 0x%08x, ip 0x%08x, sp 0x%08x\n", t->comm, t->pid,
		       signal_name(sig), addr, regs_ip(task_regs(t)), regs_sp(task_regs(t)));
	t->thread.fault_addr = addr;
	t->thread.fault_sig = sig;
	flags = irq_save();
	t->sig.blocked &= ~SIG_BIT(sig);
	t->sig.pending |= SIG_BIT(sig);
	task_set_work(t, WORK_SIGNAL);
	irq_restore(flags);
}
