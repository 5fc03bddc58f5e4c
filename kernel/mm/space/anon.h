/* Shared by the fault handler (fault.c) and the implementation of anonymous memory (anon.c). */
#ifndef MM_ANON_H
#define MM_ANON_H

#include "mm/frames.h"
#include "mm/mm.h"
#include "mm/page.h"
#include "mm/reclaim.h"
#include "mm/zone.h"

/* One page fault. mm->lock is held until the fault ends. */
struct fault {
	struct vm_area_struct *vma;
	u32 addr; /* of the page, aligned */
	pte_t *pte;
	bool write;
	bool major; /* a read was needed */
};

/* Returns a frame for anonymous memory of the region, with one reference, or NULL; the frame counts
 * against the cap on frames. GFP_ZERO in extra zeroes it. May reclaim and sleep. Inline because it
 * is part of most page faults. */
static inline struct page *alloc_anon(struct vm_area_struct *vma, gfp_t extra)
{
	bool locked = vma->flags & VM_LOCKED;
	struct page *page;

	if (!locked)
		frames_charge();
	page = alloc_page(GFP_USER | extra);
	if (!page) {
		if (!locked)
			frames_uncharge();
		return NULL;
	}
	page->flags |= 1u << PG_anon | 1u << PG_uptodate | (u32)locked << PG_mlocked;
	page->owner = NULL;
	page->used_vt = 0;
	return page;
}

/* fault.c. Maps a frame from alloc_anon, writable, and inserts it into the policy. The caller's
 * reference becomes the entry's. */
void map_new_anon(struct fault *f, struct page *page);
void copy_frame(struct page *to, struct page *from);

/* anon.c. Handles an access to an empty entry of a region without a file. Returns 0 or -ENOMEM. */
int fault_anon(struct fault *f);
/* Handles a write to a read-only present entry, in a writable region. Returns 0 or -errno. */
int fault_copy_on_write(struct fault *f);
/* fork: makes the child's entries for everything that the parent's region maps. Returns 0 or
 * -ENOMEM. Caller holds the parent's mm->lock. May sleep. */
int copy_range(struct mm_struct *child, struct vm_area_struct *vma);

#endif
