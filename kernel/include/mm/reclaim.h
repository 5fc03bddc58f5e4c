/*
 * Reclaim: turns pages that the policy selects into free frames. kswapd works between the low and
 * the high watermark, direct reclaim for the task that allocates below min.
 */
#ifndef MM_RECLAIM_H
#define MM_RECLAIM_H

#include "mm/policy_core.h"
#include "types.h"

/* Wakes kswapd: a zone is below low; a write has ended. Any context. */
void kswapd_wake(void);
void kswapd_wake_done(void);
/* Lets it free so many frames beyond the high watermark, once. */
void kswapd_make_room(u32 nr);
/* Frees memory in the zones of the mask for the calling task; true: progress was made. Sleeps. */
bool direct_reclaim(u32 zone_mask);
/* Takes up to n surplus pages of one process. */
void reclaim_trim(struct mm_struct *mm, u32 n);

/* The calling task reclaims for itself in between: it may use the reserve, and is stalled. */
void reclaim_begin(void);
void reclaim_end(void);
/* One frame of anonymous memory freed for the calling task; false: none can be. Sleeps. */
bool reclaim_one_anon(void);
/* The steps that kswapd and direct reclaim share: one pass at one priority, which says how many
 * frames it has freed or has begun to write; waiting for a write to end; finishing those. */
u32 reclaim_pass(u32 zone_mask, int priority, u32 want);
void reclaim_wait_write(void);
/* Lets those run who hold frames for the moment. */
void reclaim_pause(void);
void reclaim_finish_writes(void);

/* The cap on user frames, 0: none; and how many count against it. */
extern u32 frames_cap, frames_used;
/* Sleeps until one more user frame fits under the cap. */
void frames_charge(void);
/* The same without sleeping or reclaiming; false: there is no room. */
bool frames_try_charge(void);
void frames_uncharge(void);

/* Pages whose writes are under way; those of them that go to swap. */
u32 reclaim_nr_writing(void);
/* How often a page that reclaim sent could not be written. */
u32 reclaim_nr_failed(void);
u32 reclaim_nr_swapping(void);
/* Frames freed since boot. */
u64 reclaim_nr_freed(void);
/* When the first page was evicted since the last call; 0: none was. */
u64 reclaim_first_eviction_ns(void);
/* The worst priority that reclaim had to go down to since the last call. */
int reclaim_worst_priority(void);
/* irq context: a write has ended. */
void reclaim_write_done(struct page *page);

void kswapd_init(void);

#endif
