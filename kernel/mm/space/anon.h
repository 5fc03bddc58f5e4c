/* What the fault handler (fault.c) and the states of anonymous memory (anon.c) share. */
#ifndef MM_ANON_H
#define MM_ANON_H

#include "mm/mm.h"
#include "mm/page.h"
#include "mm/reclaim.h"
#include "mm/zone.h"

/* One page fault. mm->lock is held as long as it lasts. */
struct fault {
	struct vm_area_struct *vma;
	u32 addr; /* of the page */
	pte_t *pte;
	bool write;
	bool major; /* a read was needed */
};

/* A frame for anonymous memory of the region, with one reference, or NULL; it counts against the
 * cap on frames. GFP_ZERO in extra has it cleared. May reclaim, and sleep. Inline because it is a
 * part of most page faults. */
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
	return page;
}

/* fault.c. Maps a frame of alloc_anon, writable, and gives it to the policy. The caller's reference
 * becomes the entry's. */
void map_new_anon(struct fault *f, struct page *page);
void copy_frame(struct page *to, struct page *from);

/* anon.c. An access to an empty entry of a region without a file: 0 or -ENOMEM. */
int fault_anon(struct fault *f);
/* A write to a present entry that forbids it, in a region that allows it: 0 or -ENOMEM. */
int fault_copy_on_write(struct fault *f);
/* Fork: the child's entries for all that the parent's region maps. 0 or -ENOMEM. Holds the
 * parent's mm->lock; may sleep. */
int copy_range(struct mm_struct *child, struct vm_area_struct *vma);

#endif
