/* System calls on signals. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "proc/signal.h"
#include "sched/task.h"

enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };

#define SIGSET_SIZE sizeof(u64)

static bool sig_valid(u32 sig)
{
	return sig >= 1 && sig <= NSIG;
}

long sys_rt_sigaction(u32 sig, const void *user_new, void *user_old, u32 size)
{
	struct k_sigaction new;

	if (size != SIGSET_SIZE || !sig_valid(sig))
		return -EINVAL;
	if (user_new && (sig == SIGKILL || sig == SIGSTOP))
		return -EINVAL;
	if (user_new && copy_from_user(&new, user_new, sizeof(new)))
		return -EFAULT;
	if (user_old && copy_to_user(user_old, &current->sig.hand->actions[sig - 1], sizeof(new)))
		return -EFAULT;
	if (user_new)
		signal_set_action(sig, &new);
	return 0;
}

static int change_mask(u32 how, u64 set)
{
	u64 mask = current->sig.blocked;

	switch (how) {
	case SIG_BLOCK:
		mask |= set;
		break;
	case SIG_UNBLOCK:
		mask &= ~set;
		break;
	case SIG_SETMASK:
		mask = set;
		break;
	default:
		return -EINVAL;
	}
	signal_set_blocked(mask);
	return 0;
}

long sys_rt_sigprocmask(u32 how, const void *user_set, void *user_old, u32 size)
{
	u64 set, old = current->sig.blocked;

	if (size != SIGSET_SIZE)
		return -EINVAL;
	if (user_set && copy_from_user(&set, user_set, sizeof(set)))
		return -EFAULT;
	if (user_set && how > SIG_SETMASK)
		return -EINVAL;
	if (user_old && copy_to_user(user_old, &old, sizeof(old)))
		return -EFAULT;
	return user_set ? change_mask(how, set) : 0;
}

long sys_sigaltstack(const void *user_new, void *user_old)
{
	struct altstack new, old = current->sig.altstack;
	u32 sp = regs_sp(task_regs(current));
	int err = 0;

	old.flags = signal_on_altstack(sp) ? SS_ONSTACK : old.size ? 0 : SS_DISABLE;
	if (user_new && copy_from_user(&new, user_new, sizeof(new)))
		return -EFAULT;
	if (user_new)
		err = signal_set_altstack(&new, sp);
	if (!err && user_old && copy_to_user(user_old, &old, sizeof(old)))
		err = -EFAULT;
	return err;
}

long sys_rt_sigpending(void *user, u32 size)
{
	u64 set = current->sig.pending & current->sig.blocked;

	return size > SIGSET_SIZE ? -EINVAL : copy_to_user(user, &set, size);
}

static void sleep_until_signal(void)
{
	for (;;) {
		current->state = TASK_INTERRUPTIBLE;
		if (signal_pending(current))
			break;
		schedule();
	}
	current->state = TASK_RUNNING;
}

/* The old mask is restored after the handler has returned, or at once if none ran. */
static long suspend(u64 mask)
{
	current->saved_blocked = current->sig.blocked;
	signal_set_blocked(mask);
	sleep_until_signal();
	current->restore_blocked = true;
	return -EINTR;
}

long sys_rt_sigsuspend(const void *user, u32 size)
{
	u64 mask;

	if (size != SIGSET_SIZE)
		return -EINVAL;
	return copy_from_user(&mask, user, sizeof(mask)) ? -EFAULT : suspend(mask);
}

long sys_sigsuspend(u32 unused1, u32 unused2, u32 mask)
{
	(void)unused1;
	(void)unused2;
	return suspend(mask);
}

long sys_pause(void)
{
	sleep_until_signal();
	return -EINTR;
}

static long leave_handler(bool rt)
{
	struct pt_regs *regs = task_regs(current);
	u64 mask;

	if (!regs_in_syscall(regs) || thread_pop_signal(regs, rt, &mask)) {
		force_signal(SIGSEGV, regs_sp(regs));
		return 0;
	}
	signal_set_blocked(mask);
	/* The result goes to the program's ax, so return the restored value of ax. */
	return regs_result(regs);
}

long sys_sigreturn(void)
{
	return leave_handler(false);
}

long sys_rt_sigreturn(void)
{
	return leave_handler(true);
}

/* Sends the signal to all processes except init and the caller. */
static int kill_all(int sig)
{
	struct task_struct *t;
	int result = -ESRCH;

	for_each_task(t) {
		if (t->pid > 1 && t != current && !(t->flags & TF_KTHREAD)) {
			signal_send_from(t, sig, current->pid);
			result = 0;
		}
	}
	return result;
}

static int kill_one(int pid, int sig, u32 sender)
{
	struct task_struct *t = task_find(pid);

	if (!t)
		return -ESRCH;
	signal_send_from(t, sig, sender);
	return 0;
}

long sys_kill(int pid, u32 sig)
{
	if (sig > NSIG)
		return -EINVAL;
	if (pid > 0)
		return kill_one(pid, sig, current->pid);
	if (pid == -1)
		return kill_all(sig);
	return signal_group(pid ? -pid : current->pgid, sig, current->pid);
}

long sys_tkill(int tid, u32 sig)
{
	if (tid <= 0 || sig > NSIG)
		return -EINVAL;
	return kill_one(tid, sig, current->pid | SENT_TO_THREAD);
}

long sys_tgkill(int tgid, int tid, u32 sig)
{
	if (tgid <= 0)
		return -EINVAL;
	return tgid != tid ? -ESRCH : sys_tkill(tid, sig);
}
