/* Signals, as the Linux i386 ABI has them; one pending bit per signal, no queues. */
#ifndef PROC_SIGNAL_H
#define PROC_SIGNAL_H

#include "types.h"

struct task_struct;

#define NSIG 64

/* clang-format off */
enum {
	SIGHUP = 1, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1,
	SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT, SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP,
	SIGTTIN, SIGTTOU, SIGURG, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR,
	SIGSYS,
};
/* clang-format on */

#define SIG_DFL 0u
#define SIG_IGN 1u
#define SA_SIGINFO 4u
#define SA_RESTORER 0x04000000u
#define SA_RESTART 0x10000000u
#define SA_NODEFER 0x40000000u
#define SA_RESETHAND 0x80000000u

/* The layout that rt_sigaction passes. */
struct k_sigaction {
	u32 handler, flags, restorer;
	u64 mask;
} __attribute__((packed));

/* What is remembered of a signal while it is pending, of the first of a kind: the pid of its sender,
 * 0: the kernel; with SENT_TO_THREAD if tkill sent it. Real-time signals have none. */
#define SENT_TO_THREAD 0x8000u
#define NR_SENDERS 31

struct sighand {
	struct k_sigaction actions[NSIG];
	u16 sender[NR_SENDERS]; /* irq: by sig - 1 */
	u16 child_status; /* irq: of SIGCHLD's sender, as wait4 reports it */
};

struct signal_state {
	u64 pending; /* irq: bit sig - 1 */
	u64 blocked;
	struct sighand *hand; /* NULL for kernel threads */
};

/* The kernel marks sig pending for t and wakes it if it should notice; irq-safe. sig 0: nothing. */
void signal_send(struct task_struct *t, int sig);
/* The same by a process. */
void signal_send_from(struct task_struct *t, int sig, u32 sender);
/* SIGCHLD from a child that has ended. */
void signal_parent(const struct task_struct *child);
/* To every task of a process group; 0 or -ESRCH. irq-safe. */
int signal_group(int pgid, int sig, u32 sender);
/* Where the signal comes from that current takes now: si_code, pid and status of a siginfo. */
void signal_origin(int sig, int *code, u32 *pid, u32 *status);
/* A fault of current: cannot be blocked or ignored. */
void force_signal(int sig, u32 addr);
bool signal_pending(const struct task_struct *t);
/* current's mask of blocked signals, SIGKILL and SIGSTOP left out. */
void signal_set_blocked(u64 mask);
/* current's action for a signal. */
void signal_set_action(int sig, const struct k_sigaction *sa);
/* SIGKILL is pending: stop long work and go. */
bool fatal_signal_pending(const struct task_struct *t);

#endif
