/*
 * Regions that show a file of ramfs. Its pages are the page cache and never leave memory, so
 * they need no reverse map and no policy. A read fault also maps those neighbours that are
 * there anyway ("fault-around"): 16 faults become one.
 */
#include "fs/vfs.h"
#include "internal.h"
#include "mm/rmap.h"

#define AROUND 16u

static int file_fault(struct vm_area_struct *vma, u32 addr, struct page **page)
{
	return vfs_get_page(vma->inode, vma->pgoff + ((addr - vma->start) >> PAGE_SHIFT), page);
}

const struct vm_operations file_vm_ops = { .name = "file", .fault = file_fault };

/* Maps what is cached of the aligned group of pages around addr, whose page table exists. */
void filemap_map_around(struct vm_area_struct *vma, u32 addr)
{
	u32 from = MAX(ALIGN_DOWN(addr, AROUND * PAGE_SIZE), vma->start);
	u32 to = MIN(ALIGN_DOWN(addr, AROUND * PAGE_SIZE) + AROUND * PAGE_SIZE, vma->end);
	u32 index = vma->pgoff + ((from - vma->start) >> PAGE_SHIFT);
	pte_t *pte = pte_lookup(vma->mm->pgd, from);
	int n = 0;

	for (; from < to; from += PAGE_SIZE, index++, pte++) {
		struct page *page = radix_find(&vma->inode->cache.pages, index);

		if (!page || !pte_none(*pte))
			continue;
		page_get(page);
		page->mapcount++;
		*pte = pte_mkold(pte_make(page_pfn(page), false));
		n++;
	}
	if (n)
		mm_count_file(vma->mm, n);
}
