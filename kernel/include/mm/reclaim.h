/*
 * Reclaim: turns pages that the policy selects into free frames. kswapd runs in the background
 * between the low and the high watermark; below min, the allocating task does direct reclaim itself.
 */
#ifndef MM_RECLAIM_H
#define MM_RECLAIM_H

#include "mm/policy_core.h"
#include "types.h"

/* Wake kswapd: because a zone is below its low watermark; because a write has ended. Any context. */
void kswapd_wake(void);
void kswapd_wake_done(void);
/* Makes kswapd free nr frames beyond the high watermark, once. */
void kswapd_make_room(u32 nr);
/* Frees memory in the zones of the mask for the calling task. Returns true on progress. Sleeps. */
bool direct_reclaim(u32 zone_mask);
/* Takes up to n surplus pages of one process. May sleep. */
void reclaim_trim(struct mm_struct *mm, u32 n);

/* Between these calls the task reclaims for itself: it may use the reserve, and counts as stalled. */
void reclaim_begin(void);
void reclaim_end(void);
/* Frees one frame that counts against the cap, for the calling task. Returns false if none can be freed.
 * Sleeps. */
bool reclaim_one_capped(void);
/* The steps that kswapd and direct reclaim share. reclaim_pass makes one pass at one priority and returns the
 * number of frames freed or being written. reclaim_wait_write waits for a write to end and finishes it. */
u32 reclaim_pass(u32 zone_mask, int priority, u32 want);
void reclaim_wait_write(void);
/* Sleeps briefly, so that tasks that hold frames for the moment can run. */
void reclaim_pause(void);
void reclaim_finish_writes(void);

/* The number of pages that reclaim is writing. */
u32 reclaim_nr_writing(void);
/* The number of pages that reclaim could not write, since boot. */
u32 reclaim_nr_failed(void);
u32 reclaim_nr_swapping(void); /* of the pages being written: those that go to the swap area */
/* The number of frames that reclaim freed since boot. */
u64 reclaim_nr_freed(void);
/* Time (ns) of the first eviction since the last call of this function; 0: there was none. */
u64 reclaim_first_eviction_ns(void);
/* The most desperate (lowest) priority that reclaim reached since the last call of this function. */
int reclaim_worst_priority(void);
/* Called in irq context when a write has ended. */
void reclaim_write_done(struct page *page);

void kswapd_init(void);

#endif
