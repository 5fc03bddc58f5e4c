/* Processes whose pages are evicted before their instruction can run: see mm/reclaim/starve.c. */
#ifndef MM_STARVE_H
#define MM_STARVE_H

#include "mm/policy_core.h"

/* Call when a fault of current has been served by reading a page. Starts a turn if current is
 * starved. */
void starve_note_major(u32 addr);
/* Call when current, whose turn it is, faults again in user mode. */
void starve_fault(u32 addr);

bool starve_others_wait(void);

/* While this is true, every other task that needs a frame waits, by calls of reclaim_pause. Inline,
 * since it is called at every fault. */
static inline bool starve_must_wait(void)
{
	return unlikely(starved_mm) && starve_others_wait();
}

/* Ends the turn, if any, of an address space that ends. */
void starve_mm_exit(struct mm_struct *mm);

#endif
