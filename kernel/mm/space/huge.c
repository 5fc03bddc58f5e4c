/*
 * MAP_HUGETLB: anonymous private memory in pages of 4 MiB.
 *
 * A region with VM_HUGE consists of whole 4 MiB pages, and each is one entry of the page directory. mmap takes
 * all of its blocks from the buddy at once and clears them. It fails with ENOMEM if a block of 4 MiB is not
 * free: it neither reclaims nor moves pages to make one. So a huge page never faults, and a region is either
 * complete or absent. Linux reserves a pool beforehand (nr_hugepages); here there is none, and
 * /proc/meminfo counts the blocks in use (Hugetlb).
 *
 * Huge pages are never replaced: the policy never sees them, they are not part of the resident set or of a
 * process's demand, and mlock changes nothing.
 *
 *	munmap, mprotect, mlock...  of part of a huge page: EINVAL (vma_split_at)
 *	mremap, MADV_DONTNEED       EINVAL
 *	fork                        copies every block at once, or fails with ENOMEM: there is no copy on write of
 *	                            4 MiB, which could fail long after fork, when a process can only be killed
 *
 * Each frame of a block has a reference of its own, the region's. Direct I/O takes another one while it
 * moves data, and returns it before the process can unmap the region. So no frame is freed but with
 * its whole block. Locks: the caller holds mm->lock, or is the only user of the mm.
 */
#include "anon.h"
#include "errno.h"
#include "internal.h"
#include "lib/assert.h"
#include "mm/zone.h"

#define HUGE_ORDER 10
#define HUGE_FRAMES (1u << HUGE_ORDER)

STATIC_ASSERT(HUGE_FRAMES *PAGE_SIZE == TABLE_SPAN && HUGE_ORDER < MAX_ORDER);

u32 huge_nr_pages;

static struct page *block_alloc(gfp_t gfp)
{
	struct page *block = alloc_pages(GFP_HIGH | gfp, HUGE_ORDER);

	if (!block)
		return NULL;
	for (u32 i = 1; i < HUGE_FRAMES; i++)
		block[i].count = 1;
	huge_nr_pages += HUGE_FRAMES;
	return block;
}

static void block_free(struct page *block)
{
	for (u32 i = 1; i < HUGE_FRAMES; i++) {
		ASSERT(block[i].count == 1);
		block[i].count = 0;
	}
	free_pages(block, HUGE_ORDER);
	huge_nr_pages -= HUGE_FRAMES;
}

static void map(struct vm_area_struct *vma, u32 addr, u32 pfn)
{
	pgd_set_large(vma->mm->pgd, addr, pfn, vma->flags & VM_READ, vma->flags & VM_WRITE);
}

int huge_map(struct vm_area_struct *vma)
{
	for (u32 addr = vma->start; addr != vma->end; addr += TABLE_SPAN) {
		struct page *block = block_alloc(GFP_ZERO);

		if (!block) {
			huge_unmap(vma, vma->start, addr);
			return -ENOMEM;
		}
		map(vma, addr, page_pfn(block));
	}
	return 0;
}

void huge_unmap(struct vm_area_struct *vma, u32 start, u32 end)
{
	pgd_t *pgd = vma->mm->pgd;

	for (u32 addr = start; addr != end; addr += TABLE_SPAN) {
		u32 pfn = pgd_large_pfn(pgd, addr);

		if (!pfn) /* fork has failed before this page */
			continue;
		pgd_clear_large(pgd, addr);
		block_free(pfn_page(pfn));
	}
	tlb_flush_all(pgd);
}

int huge_copy(struct mm_struct *child, struct vm_area_struct *vma)
{
	for (u32 addr = vma->start; addr != vma->end; addr += TABLE_SPAN) {
		struct page *from = pfn_page(pgd_large_pfn(vma->mm->pgd, addr));
		struct page *block = block_alloc(0);

		if (!block)
			return -ENOMEM;
		for (u32 i = 0; i < HUGE_FRAMES; i++)
			copy_frame(block + i, from + i);
		pgd_set_large(child->pgd, addr, page_pfn(block), vma->flags & VM_READ,
			      vma->flags & VM_WRITE);
	}
	return 0;
}

void huge_protect(struct vm_area_struct *vma, u32 start, u32 end)
{
	for (u32 addr = start; addr != end; addr += TABLE_SPAN)
		map(vma, addr, pgd_large_pfn(vma->mm->pgd, addr));
	tlb_flush_all(vma->mm->pgd);
}

struct page *huge_page_at(struct mm_struct *mm, u32 addr, bool write)
{
	if (!pgd_large_allows(mm->pgd, addr, write))
		return NULL;
	return pfn_page(pgd_large_pfn(mm->pgd, addr)) + addr / PAGE_SIZE % HUGE_FRAMES;
}
