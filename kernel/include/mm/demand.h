/* Total memory that all processes demand: kernel/mm/space/demand.c. */
#ifndef MM_DEMAND_H
#define MM_DEMAND_H

#include "types.h"

extern u32 demand_sum;  /* pages that all processes together demand now */
extern u32 demand_seen; /* largest demand_sum at which processes were counted */

void demand_count(void);

/* Call before demand_sum shrinks: records a peak. */
static inline void demand_peaks(void)
{
	if (unlikely(demand_sum > demand_seen))
		demand_count();
}

/* Largest demand since boot, in pages, and the number of processes with a significant share of it. */
struct demand {
	u32 pages, processes;
};
struct demand demand_most(void);

#endif
