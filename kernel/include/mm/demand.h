/* How much memory the processes want together: kernel/mm/space/demand.c. */
#ifndef MM_DEMAND_H
#define MM_DEMAND_H

#include "types.h"

extern u32 demand_sum;  /* pages that all processes together demand */
extern u32 demand_seen; /* the most of it so far */

void demand_count(void);

/* The demand is about to shrink. */
static inline void demand_peaks(void)
{
	if (unlikely(demand_sum > demand_seen))
		demand_count();
}

/* Largest demand since boot, in pages, and the number of processes with a noticeable share of it. */
struct demand {
	u32 pages, processes;
};
struct demand demand_most(void);

#endif
