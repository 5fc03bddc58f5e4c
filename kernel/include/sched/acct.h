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
 * An open interval is in `cycles` already: entering an account subtracts the TSC, and leaving it adds
 * the TSC. So a change of account, of which each entry of the kernel makes two, costs a rdtsc and six
 * instructions. The integral costs nothing then: it is rss * cycles, corrected for each earlier
 * change of rss. If rss grows by one page, all cycles so far are subtracted from the correction.
 * Cycles are converted to time only when printed.
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
	u64 cycles[NR_ACCTS];   /* of `now`: less the TSC at which its interval began */
	u64 correction[NR_ACCTS]; /* page-cycles: see acct_space */
	u32 rss;                /* pages, kept equal to the mm's resident set */
	struct fault_sums major, minor;
	u64 major_rss;          /* sum of RSS at major faults, pages */
	bool in_fault;          /* the task handles its own page fault, */
	bool fault_waited;      /* and has waited for a page in it: */
	u64 begin_cycles, begin_space; /* ACCT_PAGEWAIT before the first such wait */
};

/* Returns the cycles in an account at the instant `now`. */
static inline u64 acct_cycles(const struct acct_clock *a, enum acct which, u64 now)
{
	return a->cycles[which] + (a->now == which ? now : 0);
}

/* Returns the space-time integral of an account at the instant `now`, in page-cycles. */
static inline u64 acct_space(const struct acct_clock *a, enum acct which, u64 now)
{
	return a->rss * acct_cycles(a, which, now) + a->correction[which];
}

static inline __attribute__((always_inline)) void acct_correct(struct acct_clock *a, int pages)
{
#pragma GCC unroll 6
	for (int i = 0; i < NR_ACCTS; i++)
		a->correction[i] -= (s64)pages * a->cycles[i];
	a->correction[a->now] -= (s64)pages * cycles_now();
	a->rss += pages;
}

/* Call when the resident set grows by `pages`. (One page needs no multiplication.) Interrupts are
 * off, unless the task is the one that runs: no interrupt changes its account. */
static inline void acct_resize(struct acct_clock *a, int pages)
{
	if (pages == 1)
		acct_correct(a, 1);
	else if (pages == -1)
		acct_correct(a, -1);
	else
		acct_correct(a, pages);
}

/* Closes the account `from`, which is open, and opens `to`. Interrupts are off. Returns the instant. */
static inline u64 acct_move(struct acct_clock *a, enum acct from, enum acct to)
{
	u64 now = cycles_now();

	a->cycles[from] += now;
	a->cycles[to] -= now;
	a->now = to;
	return now;
}

static inline u64 acct_switch(struct acct_clock *a, enum acct to)
{
	return acct_move(a, a->now, to);
}

/* Corrects the open interval, in which the clock stood still for this many cycles. */
static inline void acct_skip(struct acct_clock *a, u64 cycles)
{
	a->cycles[a->now] -= cycles;
}

/* Call when the task is about to wait for a page, while ACCT_PAGEWAIT is closed. */
static inline void acct_wait_begins(struct acct_clock *a)
{
	if (!a->in_fault || a->fault_waited)
		return;
	a->fault_waited = true;
	a->begin_cycles = a->cycles[ACCT_PAGEWAIT];
	a->begin_space = acct_space(a, ACCT_PAGEWAIT, 0);
}

/* Returns the virtual time of a task that is not in user mode now. */
static inline u64 acct_vtime_cycles(const struct acct_clock *a)
{
	return a->cycles[ACCT_USER];
}

#endif
