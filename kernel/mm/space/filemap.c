/*
 * Regions that map a file, through its page cache. A read fault also maps those neighbours that are
 * already resident ("fault-around"): 16 faults become one. If the file has a store, only neighbours that
 * a process has already requested are mapped: the first use of a page that was read ahead is a fault.
 */
#include "fs/vfs.h"
#include "internal.h"
#include "mm/mm.h"
#include "mm/rmap.h"

#define AROUND 16u

static u32 index_of(const struct vm_area_struct *vma, u32 addr)
{
	return vma->pgoff + ((addr - vma->start) >> PAGE_SHIFT);
}

static int file_fault(struct vm_area_struct *vma, u32 addr, struct page **page, bool *major)
{
	return cache_fault_page(vma->inode, index_of(vma, addr), &vma->ahead, page, major);
}

int filemap_fill_hole(struct vm_area_struct *vma, u32 addr, struct page **page)
{
	return cache_get_page(vma->inode, index_of(vma, addr), page);
}

const struct vm_operations file_vm_ops = { .name = "file", .fault = file_fault };

/* For a file with a store: may the neighbour be mapped, too? */
static bool take_neighbour(struct vm_area_struct *vma, struct page *page)
{
	if (!cache_note_neighbour(page, vma->mm))
		return false;
	if (vma->flags & VM_LOCKED)
		page_pin(page);
	return true;
}

/* Maps the resident ones of nr consecutive pages in the tree. Returns the number of pages mapped.
 * Inlined once for each kind of file (stored or not), which saves a test for each page. */
static inline __attribute__((always_inline)) u32 map_run(struct vm_area_struct *vma, pte_t *pte,
							 void *const *slot, u32 nr, bool stored)
{
	u32 n = 0;

	for (u32 i = 0; i < nr; i++) {
		struct page *page = slot[i];

		if (!page || !pte_none(pte[i]) || (stored && !take_neighbour(vma, page)))
			continue;
		page_get(page);
		page->mapcount++;
		pte[i] = pte_mkold(pte_make(page_pfn(page), false));
		n++;
	}
	return n;
}

/* Maps the cached pages of the aligned group around addr. The page table of addr exists. Returns the number
 * of pages, which the caller counts. */
u32 filemap_map_around(struct vm_area_struct *vma, u32 addr)
{
	u32 from = MAX(ALIGN_DOWN(addr, AROUND * PAGE_SIZE), vma->start);
	u32 to = MIN(ALIGN_DOWN(addr, AROUND * PAGE_SIZE) + AROUND * PAGE_SIZE, vma->end);
	u32 index = index_of(vma, from);
	pte_t *pte = pte_lookup(vma->mm->pgd, from);
	u32 n = 0;

	for (u32 left = (to - from) >> PAGE_SHIFT, nr; left; left -= nr, index += nr, pte += nr) {
		const struct radix_node *leaf = radix_leaf(&vma->inode->cache.pages, index);
		u32 first = index % RADIX_SLOTS;

		nr = MIN(left, RADIX_SLOTS - first);
		if (leaf && vma->inode->cache.ops)
			n += map_run(vma, pte, &leaf->slot[first], nr, true);
		else if (leaf)
			n += map_run(vma, pte, &leaf->slot[first], nr, false);
	}
	return n;
}

void filemap_unmap_hole(struct inode *inode, u32 index)
{
	struct interval *i;

	for_each_interval(i, &inode->cache.regions, index, index) {
		struct vm_area_struct *vma = rb_entry(i, struct vm_area_struct, mapping);
		u32 addr = vma_addr(vma, index);
		pte_t *pte = pte_lookup(vma->mm->pgd, addr);

		if (!pte || !(pte_present(*pte) || pte_noaccess(*pte)) ||
		    !is_zero_page(pfn_page(pte_pfn(*pte))))
			continue;
		*pte = pte_zero();
		tlb_flush_page(vma->mm->pgd, addr);
	}
}

void filemap_unmap_rest(struct inode *inode, u32 first)
{
	struct interval *i;

	for_each_interval(i, &inode->cache.regions, first, ~0u) {
		struct vm_area_struct *vma = rb_entry(i, struct vm_area_struct, mapping);

		if (!(vma->flags & VM_SHARED) || inode->cache.holes_mapped)
			unmap_range(vma, vma_addr(vma, MAX(first, vma->pgoff)), vma->end);
	}
}
