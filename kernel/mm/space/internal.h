/* What the files of mm/ share among themselves. */
#ifndef MM_INTERNAL_H
#define MM_INTERNAL_H

#include "mm/mm.h"
#include "mm/page.h"

/* vma.c: regions. All hold mm->lock (or own the mm alone). */
struct vm_area_struct *vma_new(struct mm_struct *mm, u32 start, u32 end, u32 flags,
			       struct inode *inode, u32 pgoff);
void vma_free(struct vm_area_struct *vma);
void vma_insert(struct vm_area_struct *vma);
void vma_remove(struct vm_area_struct *vma);
struct vm_area_struct *vma_prev(struct vm_area_struct *vma);
struct vm_area_struct *vma_next(struct vm_area_struct *vma);
/* Joins vma with neighbours that only continue it; returns the region that now holds it. */
struct vm_area_struct *vma_merge(struct vm_area_struct *vma);
/* Makes addr a border between regions if it lies inside one: 0 or -ENOMEM. */
int vma_split_at(struct mm_struct *mm, u32 addr);
/* A free range of len bytes, or 0. */
u32 vma_find_hole(struct mm_struct *mm, u32 len);
/* Moves the end of a region that has room behind it, or the start of a stack. */
void vma_resize(struct vm_area_struct *vma, u32 start, u32 end);
void vma_init_cache(void);

/* overcommit.c: may so many pages more be promised? */
bool vm_may_commit(u32 pages);

/* Is memory promised for regions with these flags? */
static inline bool vm_is_promised(u32 flags)
{
	return (flags & (VM_SHARED | VM_WRITE)) == VM_WRITE;
}

static inline u32 vma_pages(const struct vm_area_struct *vma)
{
	return (vma->end - vma->start) >> PAGE_SHIFT;
}

/* mmap.c: splits at the borders and gives each region in the range the flags that change returns.
 * 0 or -ENOMEM. */
int vma_for_range(struct mm_struct *mm, u32 start, u32 end,
		  u32 (*change)(struct vm_area_struct *vma, u32 arg), u32 arg);

/* mmap.c: is every page of the range in some region? Holds mm->lock. */
bool range_mapped(struct mm_struct *mm, u32 start, u32 end);

/* mlock.c: faults in what is not there; without mm->lock. Stops at the first failure: 0, -errno. */
int mm_populate(struct mm_struct *mm, u32 start, u32 end);

/* range.c: whole ranges of page-table entries. */
struct tally {
	int anon, file, swap; /* entries that came and went, for mm->count */
};
void tally_settle(struct mm_struct *mm, const struct tally *t);
void unmap_page(struct vm_area_struct *vma, struct page *page); /* its entry is already empty */
void zap_range(struct vm_area_struct *vma, u32 start, u32 end);
void protect_range(struct vm_area_struct *vma, u32 start, u32 end);
void free_tables_around(struct mm_struct *mm, u32 start, u32 end);

/* The end of the part of [addr, end) that addr's page table maps. */
static inline u32 table_end(u32 addr, u32 end)
{
	u32 next = ALIGN_DOWN(addr, TABLE_SPAN) + TABLE_SPAN;

	return next - 1 < end - 1 ? next : end;
}

/* unuse.c: maps, in all address spaces, what is in the swap cache for slots first..end - 1, and gives
 * those slots up. May sleep between two address spaces. */
void unuse_slots(u32 first, u32 end);

/* mlock.c: takes a page from the policy, and gives it back. */
void page_pin(struct page *page);
void page_unpin(struct page *page);

/* filemap.c */
extern const struct vm_operations file_vm_ops;
void filemap_map_around(struct vm_area_struct *vma, u32 addr);
/* A page for the hole at addr, with a reference: 0, -EINVAL (beyond the end), -ENOMEM. May sleep. */
int filemap_fill_hole(struct vm_area_struct *vma, u32 addr, struct page **page);

#endif
