/*
 * Pressure stall information (PSI): the share of time that is lost because memory is short.
 * (J. Weiner, Linux 4.20, 2018: Documentation/accounting/psi.rst.)
 *
 * A program is STALLED while it waits for a page to be read or for a frame (account PAGEWAIT), and
 * during direct reclaim, awake or asleep. It is PRODUCTIVE while it otherwise runs or could run
 * (accounts USER, KERNEL, READY). Kernel threads are neither: the work of kswapd is not progress of
 * any program. A program held back by admission is neither, too: it does not compete for memory
 * meanwhile, so good load control does not look like memory pressure.
 *
 *	some: time in which at least one program is stalled
 *	full: time in which at least one program is stalled and none is productive
 *
 * Both are integrated exactly, by the cycle, like the accounts: the clock is settled whenever a
 * task changes its class. Utilisation says how busy the CPU was; `full` says how much of the time
 * no program made progress because memory was short, whether the CPU was idle or not.
 *
 * The averages are Linux's: every 2 s the share of the interval enters three exponentially damped
 * averages. They do not wake an idle machine; missed intervals are made up for with the mean of the
 * elapsed time.
 *
 * Unlike Linux, every wait for a page counts, not only for a recently evicted one, and there is one
 * state for the machine, not one for each CPU and group.
 */
#ifndef SCHED_PSI_STATE_H
#define SCHED_PSI_STATE_H

#include "sched/psi.h"

#define PSI_FSHIFT 11
#define PSI_FIXED_1 (1u << PSI_FSHIFT)
#define PSI_PERIOD_NS 2000000000u
#define PSI_MAX_MISSED 4000u /* after this number the averages have converged */

struct psi {
	u64 since;               /* cycles */
	u64 some, full;          /* cycles */
	u32 nr[PSI_STALLED + 1]; /* tasks of each class */
};

/* Shares in percent, fixed point, over about 10, 60 and 300 s. */
struct psi_average {
	u64 last_ns; /* the total at the last update */
	u32 avg[3];
};

static inline void psi_settle(struct psi *p, u64 now)
{
	u64 d = now - p->since;

	p->since = now;
	if (!p->nr[PSI_STALLED])
		return;
	p->some += d;
	if (!p->nr[PSI_PRODUCTIVE])
		p->full += d;
}

static inline void psi_move(struct psi *p, enum psi_class from, enum psi_class to, u64 now)
{
	psi_settle(p, now);
	p->nr[from] -= from != PSI_NONE;
	p->nr[to] += to != PSI_NONE;
}

/* Updates the averages: the total has grown to total_ns in elapsed_ns, i.e. `periods` intervals. */
void psi_average_update(struct psi_average *a, u64 total_ns, u64 elapsed_ns, u32 periods);

#endif
