/* A task's handlers of signals, and which signals it blocks. Sending signals: sched/signal.h. */
#ifndef PROC_SIGNAL_H
#define PROC_SIGNAL_H

#include "sched/signal.h"
#include "types.h"

/* Sets current's mask of blocked signals, without SIGKILL and SIGSTOP. */
void signal_set_blocked(u64 mask);
/* Sets current's action for a signal. */
void signal_set_action(int sig, const struct k_sigaction *sa);

#endif
