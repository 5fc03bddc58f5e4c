/*
 * Where time went, exactly: every task is always in one account. Each change of account or of
 * resident-set size settles the old one. It also settles the space-time integral of each process
 * (mm), in pages x cycles, by account (docs/reference/telemetry.md):
 *
 *   C_B = sum over all accounts;  running = USER;  housekeeping = KERNEL;
 *   waiting for a page = PAGEWAIT;  ready = READY + ADMIT (waiting its turn);  asleep = SLEEP.
 *
 * Of PAGEWAIT, the parts spent in major and minor page faults are counted when a fault ends
 * (mm/space/fault.c); a fault that fails counts as minor. The rest is waiting in system calls.
 *
 * Cost: one rdtsc and about twenty instructions per change. Cycles are converted to time only
 * when printed.
 */
#ifndef SCHED_ACCT_H
#define SCHED_ACCT_H

#include "arch/time.h"
#include "types.h"

enum acct {
	ACCT_USER,     /* running its own code */
	ACCT_KERNEL,   /* the kernel working on its behalf */
	ACCT_READY,    /* runnable, another task runs */
	ACCT_PAGEWAIT, /* waiting for page I/O or a free frame */
	ACCT_ADMIT,    /* held back by the policy's may_run */
	ACCT_SLEEP,    /* asleep for any other reason */
	NR_ACCTS,
};

/* Sums over page faults. cycles and space are parts of ACCT_PAGEWAIT. */
struct fault_sums {
	u64 cycles;
	u64 space;      /* page-cycles */
	u64 rss_cycles; /* sum of RSS at the fault x its wait, page-cycles */
};

struct acct_clock {
	enum acct now;
	u64 since;              /* cycles */
	u64 cycles[NR_ACCTS];
	u64 space[NR_ACCTS];    /* page-cycles */
	u32 rss;                /* pages, kept equal to the mm's resident set */
	struct fault_sums major, minor;
	u64 major_rss;          /* sum of RSS at major faults, pages */
	bool in_fault;          /* the task handles its own page fault, */
	bool fault_waited;      /* and has waited for a page in it: */
	u64 begin_cycles, begin_space; /* ACCT_PAGEWAIT before the first such wait */
};

/* Settles the open interval; the account stays the same. */
static inline void acct_settle(struct acct_clock *a)
{
	u64 now = cycles_now();
	u64 d = now - a->since;

	a->cycles[a->now] += d;
	a->space[a->now] += a->rss * d;
	a->since = now;
}

static inline void acct_switch(struct acct_clock *a, enum acct to)
{
	acct_settle(a);
	a->now = to;
}

/* The task is about to wait for a page. */
static inline void acct_wait_begins(struct acct_clock *a)
{
	if (!a->in_fault || a->fault_waited)
		return;
	a->fault_waited = true;
	a->begin_cycles = a->cycles[ACCT_PAGEWAIT];
	a->begin_space = a->space[ACCT_PAGEWAIT];
}

/* Returns the cycles in an account at the instant `now`. */
static inline u64 acct_cycles(const struct acct_clock *a, enum acct which, u64 now)
{
	return a->cycles[which] + (a->now == which ? now - a->since : 0);
}

static inline u64 acct_vtime_cycles(const struct acct_clock *a)
{
	return a->cycles[ACCT_USER];
}

#endif
