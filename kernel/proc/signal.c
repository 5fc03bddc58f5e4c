/*
 * Signals: a pending bit and a blocked bit per signal, and one action each.
 *
 * Sending sets the pending bit and, if it is not blocked, WORK_SIGNAL, and wakes an interruptible
 * sleeper. The rest happens when the task is about to return to user mode (signal_deliver). An
 * ignored signal is dropped when it is sent. An interrupted system call has returned -ERESTARTSYS
 * and is restarted unless a handler without SA_RESTART runs.
 *
 * Init gets only signals for which it has a handler, so that it cannot be killed by mistake.
 *
 * Left out: queues (real-time signals are merged like the others), alternative stacks, and
 * stopping: SIGSTOP and the terminal's stop signals are ignored by default.
 */
#include "proc/signal.h"
#include "arch/irq.h"
#include "errno.h"
#include "internal.h"
#include "lib/printf.h"
#include "mm/policy_core.h"
#include "proc/alarm.h"

#define BIT(sig) (1ull << ((sig) - 1))
#define UNBLOCKABLE (BIT(SIGKILL) | BIT(SIGSTOP))
#define SYNCHRONOUS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP))
#define DEFAULT_IGNORED                                                                            \
	(BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGSTOP) | BIT(SIGTSTP) | \
	 BIT(SIGTTIN) | BIT(SIGTTOU))

/* Values of si_code, and a status that no exited child has. */
enum { SI_USER = 0, SI_TKILL = -6, SI_KERNEL = 0x80, CLD_EXITED = 1, CLD_KILLED = 2 };
#define NOT_ENDED 0x7fu

static u64 deliverable(const struct task_struct *t)
{
	return t->sig.pending & ~t->sig.blocked;
}

bool signal_pending(const struct task_struct *t)
{
	return deliverable(t) != 0;
}

bool signal_pending_current(void)
{
	return deliverable(current) != 0;
}

bool fatal_signal_pending(const struct task_struct *t)
{
	return t->sig.pending & BIT(SIGKILL);
}

/* Sets or clears WORK_SIGNAL after current's masks have changed. */
static void signal_recalc(void)
{
	unsigned long flags = irq_save();

	if (deliverable(current))
		current->work |= WORK_SIGNAL;
	else
		current->work &= ~WORK_SIGNAL;
	irq_restore(flags);
}

static bool ignored(const struct task_struct *t, int sig)
{
	u32 handler;

	if (!t->sig.hand)
		return true;
	handler = t->sig.hand->actions[sig - 1].handler;
	if (handler == SIG_DFL)
		return DEFAULT_IGNORED & BIT(sig) || t == init_process;
	return handler == SIG_IGN;
}

/* Interrupts are off. */
static void mark_pending(struct task_struct *t, int sig, u32 sender)
{
	if (t->sig.pending & BIT(sig))
		return;
	t->sig.pending |= BIT(sig);
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
	if (t->sig.blocked & BIT(sig)) {
		mark_pending(t, sig, sender);
	} else if (!ignored(t, sig)) {
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
	bool first = !(t->sig.pending & BIT(SIGCHLD));

	signal_send_from(t, SIGCHLD, child->pid);
	if (first && t->sig.hand)
		t->sig.hand->child_status = child->exit_code;
	irq_restore(flags);
}

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

	if (sa->handler == SIG_IGN || t->sig.blocked & BIT(sig))
		sa->handler = SIG_DFL;
	if (sa->handler == SIG_DFL)
		printk("%s[%d]: %s at address 0x%08x, ip 0x%08x, sp 0x%08x\n", t->comm, t->pid,
		       signal_name(sig), addr, regs_ip(task_regs(t)), regs_sp(task_regs(t)));
	t->thread.fault_addr = addr;
	t->thread.fault_sig = sig;
	flags = irq_save();
	t->sig.blocked &= ~BIT(sig);
	t->sig.pending |= BIT(sig);
	task_set_work(t, WORK_SIGNAL);
	irq_restore(flags);
}

void signal_set_blocked(u64 mask)
{
	current->sig.blocked = mask & ~UNBLOCKABLE;
	signal_recalc();
}

void signal_set_action(int sig, const struct k_sigaction *sa)
{
	unsigned long flags = irq_save();

	current->sig.hand->actions[sig - 1] = *sa;
	if (ignored(current, sig))
		current->sig.pending &= ~BIT(sig);
	else if (sig == SIGALRM && !(current->sig.pending & BIT(sig)))
		alarm_restart();
	irq_restore(flags);
	signal_recalc();
}

void signal_exec(struct task_struct *t)
{
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
	u64 set = deliverable(t);
	int sig = 0;

	if (set & BIT(SIGKILL))
		set = BIT(SIGKILL);
	else if (set & SYNCHRONOUS)
		set &= SYNCHRONOUS;
	if (set) {
		sig = lowest(set);
		t->sig.pending &= ~BIT(sig);
	}
	irq_restore(flags);
	if (sig == SIGALRM)
		alarm_restart();
	return sig;
}

static bool kills(const struct task_struct *t, int sig)
{
	return !(DEFAULT_IGNORED & BIT(sig)) && (t != init_process || SYNCHRONOUS & BIT(sig));
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
	t->sig.blocked |= copy.mask | (copy.flags & SA_NODEFER ? 0 : BIT(sig));
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
