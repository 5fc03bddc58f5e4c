/*
 * Signals of the Linux i386 ABI: one pending bit per signal, no queues. Sending a signal marks it and
 * wakes the task, and a sleeping task tests for it, so this half belongs to the scheduler. The other
 * half, handlers, is proc/signal.h.
 */
#ifndef SCHED_SIGNAL_H
#define SCHED_SIGNAL_H

#include "types.h"

struct task_struct;

#define NSIG 64
#define SIG_BIT(sig) (1ull << ((sig) - 1))

/* clang-format off */
enum {
	SIGHUP = 1, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1,
	SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT, SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP,
	SIGTTIN, SIGTTOU, SIGURG, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR,
	SIGSYS,
};
/* clang-format on */

/* Signals that a task ignores unless it has a handler. */
#define SIGNALS_IGNORED                                                                            \
	(SIG_BIT(SIGCHLD) | SIG_BIT(SIGCONT) | SIG_BIT(SIGURG) | SIG_BIT(SIGWINCH) |               \
	 SIG_BIT(SIGSTOP) | SIG_BIT(SIGTSTP) | SIG_BIT(SIGTTIN) | SIG_BIT(SIGTTOU))

#define SIG_DFL 0u
#define SIG_IGN 1u
#define SA_SIGINFO 4u
#define SA_ONSTACK 0x08000000u
#define SA_RESTORER 0x04000000u
#define SA_RESTART 0x10000000u
#define SA_NODEFER 0x40000000u
#define SA_RESETHAND 0x80000000u

/* The layout used by rt_sigaction. */
struct k_sigaction {
	u32 handler, flags, restorer;
	u64 mask;
} __attribute__((packed));

/* Saved with the first pending signal of a kind: the pid of its sender, or 0 for the kernel, with
 * SENT_TO_THREAD if tkill sent it. Real-time signals have none. */
#define SENT_TO_THREAD 0x8000u
#define NR_SENDERS 31
#define NOT_ENDED 0x7fu /* a child_status that no exited child has */

struct sighand {
	struct k_sigaction actions[NSIG];
	u16 sender[NR_SENDERS]; /* irq: by sig - 1 */
	u16 child_status; /* irq: of the child that sent SIGCHLD, as wait4 reports it */
};

#define SS_ONSTACK 1
#define SS_DISABLE 2
#define MIN_ALTSTACK 2048u

/* The layout used by sigaltstack. size 0: none. */
struct altstack {
	u32 sp;
	int flags;
	u32 size;
};

struct signal_state {
	u64 pending; /* irq: bit sig - 1 */
	u64 blocked;
	struct sighand *hand; /* NULL for kernel threads */
	struct altstack altstack; /* for handlers with SA_ONSTACK */
};

/* Marks sig pending for t, sent by the kernel, and wakes t if the signal matters to it. irq-safe.
 * sig 0: no effect. */
void signal_send(struct task_struct *t, int sig);
/* Like signal_send, for a signal that a process sends. */
void signal_send_from(struct task_struct *t, int sig, u32 sender);
/* Sends SIGCHLD from a child that has exited. */
void signal_parent(const struct task_struct *child);
/* Sends to every task of a process group. Returns 0 or -ESRCH. irq-safe. */
int signal_group(int pgid, int sig, u32 sender);
/* Sends a fault signal to current. It cannot be blocked or ignored. */
void force_signal(int sig, u32 addr);
/* Returns the origin of the signal that current takes now: si_code, pid and status of a siginfo. */
void signal_origin(int sig, int *code, u32 *pid, u32 *status);
/* Does the task ignore the signal, by its own choice or by default? */
bool signal_ignored(const struct task_struct *t, int sig);

/* The signals that are to be handled now. */
static inline u64 signals_deliverable(const struct signal_state *s)
{
	return s->pending & ~s->blocked;
}

bool signal_pending(const struct task_struct *t);
bool signal_pending_current(void);
/* Returns true if SIGKILL is pending: stop long work and return. */
bool fatal_signal_pending(const struct task_struct *t);

/* Returns true if a program with this stack pointer is on current's alternative stack. */
bool signal_on_altstack(u32 sp);
/* Sets current's alternative stack, for a program with this stack pointer. Returns 0, -EPERM if the
 * program is on it, -EINVAL for unknown flags, or -ENOMEM if it is too small. */
int signal_set_altstack(const struct altstack *new, u32 sp);

#endif
