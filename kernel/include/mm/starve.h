/* Processes whose pages are taken before their instruction has run: see mm/reclaim/starve.c. */
#ifndef MM_STARVE_H
#define MM_STARVE_H

#include "mm/page.h"

extern struct mm_struct *starved_mm; /* whose turn it is; NULL: nobody's, as nearly always */

/* A fault of current has been served by reading a page: is it starved? */
void starve_note_major(u32 addr);
/* current, whose turn it is, faults again, in user mode. */
void starve_fault(u32 addr);

bool starve_others_wait(void);
bool starve_kept(const struct page *page);

/* Whoever wants a frame waits while this holds, for reclaim_pause. Inline, like the next: asked
 * at every fault, and of every page that is scanned. */
static inline bool starve_must_wait(void)
{
	return unlikely(starved_mm) && starve_others_wait();
}

/* Is the page kept for the instruction that starved? */
static inline bool starve_keeps(const struct page *page)
{
	return unlikely(starved_mm) && starve_kept(page);
}

/* The address space goes. */
void starve_mm_exit(struct mm_struct *mm);

#endif
