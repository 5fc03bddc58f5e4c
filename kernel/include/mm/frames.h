/* The frames of processes and files: their cap, and dropping references to them. */
#ifndef MM_FRAMES_H
#define MM_FRAMES_H

#include "mm/page.h"
#include "mm/zone.h"
#include "types.h"

/* The cap on user frames (0: none), and the number of frames that count against it: those of pages with
 * page_is_capped that are not locked. */
extern u32 frames_cap, frames_used;
/* Counts one more user frame; sleeps until it fits under the cap. */
void frames_charge(void);
/* Like frames_charge, but never sleeps or reclaims. Returns false if the cap is reached. */
bool frames_try_charge(void);
void frames_uncharge(void);
/* Does the cap count the frames of files on disks, too? */
extern bool frames_files;
/* Returns a frame for a page of such a file, which counts against the cap, or NULL. Sleeps only with
 * GFP_WAIT. */
struct page *frames_alloc_file(gfp_t gfp);

/* Drops a reference; the last one removes the page from the policy and frees it. */
void page_put(struct page *p);

#endif
