/* What the fault handler (fault.c) and the states of anonymous memory (anon.c) share. */
#ifndef MM_ANON_H
#define MM_ANON_H

#include "mm/mm.h"
#include "mm/page.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/zone.h"
#include "proc/task.h"

/* One page fault. mm->lock is held as long as it lasts. */
struct fault {
	struct vm_area_struct *vma;
	u32 addr; /* of the page */
	pte_t *pte;
	bool write;
	bool major; /* a read was needed */
};

/* A frame for anonymous memory of the region, with one reference, or NULL. GFP_ZERO in extra has
 * it cleared. May reclaim, and sleep. */
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

/* Maps a frame; the caller's reference becomes the entry's. */
static inline void map_anon(struct fault *f, struct page *page, bool writable)
{
	page_add_anon(page, f->vma->mm, f->addr);
	*f->pte = pte_make(page_pfn(page), writable);
	current->fresh_va = f->addr;
}

/* Maps a frame of alloc_anon, writable, and gives it to the policy. */
static inline void map_new_anon(struct fault *f, struct page *page)
{
	struct page_id none = { 0 };

	map_anon(f, page, true);
	if (!page_test(page, PG_mlocked))
		policy_call_insert(page, f->vma->mm, VM_IN_FAULT, none);
}

/* fault.c */
void copy_frame(struct page *to, struct page *from);

/* anon.c. An access to an empty entry of a region without a file: 0 or -ENOMEM. */
int fault_anon(struct fault *f);
/* A write to a present entry that forbids it, in a region that allows it: 0 or -ENOMEM. */
int fault_copy_on_write(struct fault *f);
/* Fork: the child's entries for all that the parent's region maps. 0 or -ENOMEM. Holds the
 * parent's mm->lock; may sleep. */
int copy_range(struct mm_struct *child, struct vm_area_struct *vma);

#endif
