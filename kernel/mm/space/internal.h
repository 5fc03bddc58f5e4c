/* Declarations that the files of mm/ share among themselves. */
#ifndef MM_INTERNAL_H
#define MM_INTERNAL_H

#include "mm/mm.h"
#include "mm/page.h"

/* vma.c: regions. The caller holds mm->lock (or is the only user of the mm). */
struct vm_area_struct *vma_new(struct mm_struct *mm, u32 start, u32 end, u32 flags,
			       struct inode *inode, u32 pgoff);
void vma_free(struct vm_area_struct *vma);
void vma_insert(struct vm_area_struct *vma);
void vma_remove(struct vm_area_struct *vma);
struct vm_area_struct *vma_prev(struct vm_area_struct *vma);
struct vm_area_struct *vma_next(struct vm_area_struct *vma);
/* Merges vma with neighbours that exactly continue it. Returns the region that contains it afterwards. */
struct vm_area_struct *vma_merge(struct vm_area_struct *vma);
/* Splits the region that contains addr, so that addr is a border. Returns 0, -ENOMEM, or -EINVAL inside a huge page. */
int vma_split_at(struct mm_struct *mm, u32 addr);
extern u32 legacy_va_layout; /* of new address spaces: mmap takes the lowest hole */
/* Returns the address of a free range of len bytes, or 0. */
u32 vma_find_hole(struct mm_struct *mm, u32 len);
/* Moves the end of a region that has free space after it, or the start of a stack. */
void vma_resize(struct vm_area_struct *vma, u32 start, u32 end);
/* Records that the region's pages are numbered by addresses that lie `pages` below theirs (mm/rmap.h).
 * Call it at most once, for a new region. */
void vma_set_moved(struct vm_area_struct *vma, u32 pages);
void vma_init_cache(void);

/* overcommit.c: may `pages` more pages be committed? */
bool vm_may_commit(u32 pages);

/* Does memory of regions with these flags count as committed? */
static inline bool vm_is_promised(u32 flags)
{
	return (flags & (VM_SHARED | VM_WRITE)) == VM_WRITE;
}

static inline u32 vma_pages(const struct vm_area_struct *vma)
{
	return (vma->end - vma->start) >> PAGE_SHIFT;
}

/* The address at which the region maps that page of its file. */
static inline u32 vma_addr(const struct vm_area_struct *vma, u32 index)
{
	return vma->start + ((index - vma->pgoff) << PAGE_SHIFT);
}

/* mmap.c: the flags of a region for mmap's protection and flags. */
u32 prot_to_vm(u32 prot, u32 flags);

/* protect.c: splits regions at the borders of the range and sets the flags of each region in the range
 * to what `change` returns. Returns 0 or -ENOMEM. */
int vma_for_range(struct mm_struct *mm, u32 start, u32 end,
		  u32 (*change)(struct vm_area_struct *vma, u32 arg), u32 arg);

/* mmap.c: is [addr, addr + len) a page-aligned range of user addresses above page 0? */
bool range_ok(u32 addr, u32 len);
/* mmap.c: may memory of regions with these flags grow by len bytes? */
bool may_promise(u32 vm, u32 len);
/* mmap.c: removes what the range maps. Returns 0 or -ENOMEM. Caller holds mm->lock. */
int unmap_locked(struct mm_struct *mm, u32 start, u32 end);
/* protect.c: does every page of the range belong to a region? Caller holds mm->lock. */
bool range_mapped(struct mm_struct *mm, u32 start, u32 end);

/* mlock.c: faults in missing pages, until the first error. Returns 0 or -errno. Called without mm->lock. */
int mm_populate(struct mm_struct *mm, u32 start, u32 end);

/* range.c: operations on ranges of page-table entries. */
struct tally {
	int anon, file, swap; /* change in the number of entries, for mm->count */
};
void tally_settle(struct mm_struct *mm, const struct tally *t);
void unmap_page(struct vm_area_struct *vma, struct page *page); /* the entry is already empty */
/* Unmaps a range. zap_range only adds up what the caller then settles. */
void unmap_range(struct vm_area_struct *vma, u32 start, u32 end);
void zap_range(struct vm_area_struct *vma, u32 start, u32 end, struct tally *t);
void free_tables_around(struct mm_struct *mm, u32 start, u32 end);

/* The end of the part of [addr, end) that the same page table as addr's maps. */
static inline u32 table_end(u32 addr, u32 end)
{
	u32 next = ALIGN_DOWN(addr, TABLE_SPAN) + TABLE_SPAN;

	return next - 1 < end - 1 ? next : end;
}

/* mlock.c: page_pin takes a page from the policy; page_unpin gives it back if no region locks it. */
void page_pin(struct page *page);
void page_unpin(struct page *page);

/* huge.c: pages of 4 MiB; borders are multiples of TABLE_SPAN. Allocates and maps the whole region: 0 or -ENOMEM. */
int huge_map(struct vm_area_struct *vma);
void huge_unmap(struct vm_area_struct *vma, u32 start, u32 end);
/* Copies the region's pages for child, which has the same region: 0, or -ENOMEM after some pages. */
int huge_copy(struct mm_struct *child, struct vm_area_struct *vma);
/* Gives the pages the rights of the region. */
void huge_protect(struct vm_area_struct *vma, u32 start, u32 end);
/* The frame of a huge page at addr, or NULL if there is none that permits the access. */
struct page *huge_page_at(struct mm_struct *mm, u32 addr, bool write);

/* filemap.c */
extern const struct vm_operations file_vm_ops;
u32 filemap_map_around(struct vm_area_struct *vma, u32 addr);
/* Returns a new page, with a reference, for the hole at addr: 0, -EINVAL (beyond the end), -ENOMEM. Sleeps. */
int filemap_fill_hole(struct vm_area_struct *vma, u32 addr, struct page **page);

#endif
