/*
 * Anonymous memory: pages without a file, which begin as zeros.
 *
 * Eager: a program that touches one page gets frames for the four around it, whether it reads or
 * writes; a fork copies every resident page of the parent. Both work, but both do work at once
 * that may never be needed; labs/paging/handout.md has the task.
 *
 * All functions hold the mm->lock of the address space whose entry changes (in a fork no other task
 * can use the new one yet). Every allocation may sleep, and reclaim may change entries meanwhile:
 * if it evicts a page, the entry names the page's swap slot from then on. The CPU's TLB may hold a
 * translation with rights that the entry has lost: it must be flushed before the program runs
 * again.
 */
#include "anon.h"
#include "errno.h"
#include "internal.h"
#include "mm/swap.h"
#include "mm/vmstat.h"

#define AROUND 4u /* pages mapped at once; a power of 2 */

/* Maps a zeroed frame for the page. */
static int map_zeros(struct fault *f, gfp_t extra)
{
	struct page *page = alloc_anon(f->vma, GFP_ZERO | extra);

	if (!page)
		return -ENOMEM;
	map_new_anon(f, page);
	return 0;
}

/* Neighbours are not worth killing a process for, and not useful if the access pattern is random. */
static void map_around(const struct fault *f)
{
	u32 first = ALIGN_DOWN(f->addr, AROUND * PAGE_SIZE);

	if (f->vma->flags & VM_RAND_READ)
		return;
	for (u32 addr = first; addr != first + AROUND * PAGE_SIZE; addr += PAGE_SIZE) {
		struct fault near = { .vma = f->vma, .addr = addr };

		near.pte = f->pte + (int)(addr - f->addr) / (int)PAGE_SIZE;
		if (addr < f->vma->start || addr >= f->vma->end || addr == f->addr)
			continue;
		if (!pte_none(*near.pte))
			continue;
		if (map_zeros(&near, GFP_NORETRY))
			return;
		*near.pte = pte_mkold(*near.pte); /* the program has not used it yet */
	}
}

/* The page itself is mapped last, so that making room for its neighbours cannot evict it again. */
int fault_anon(struct fault *f)
{
	map_around(f);
	return map_zeros(f, 0);
}

/* While we wait for a new frame we hold no reference to the old one: evicting it may make room. */
int fault_copy_on_write(struct fault *f)
{
	struct page *old = pfn_page(pte_pfn(*f->pte)), *copy;
	pte_t entry = *f->pte;

	if (f->vma->flags & VM_SHARED) {
		*f->pte = pte_mkwrite(entry);
		tlb_flush_page(f->vma->mm->pgd, f->addr);
		return 0;
	}
	copy = alloc_anon(f->vma, 0);
	if (!copy)
		return -ENOMEM;
	if (!pte_same(*f->pte, entry)) {
		page_put(copy);
		return 0;
	}
	copy_frame(copy, old);
	*f->pte = pte_zero();
	unmap_page(f->vma, old);
	map_new_anon(f, copy);
	tlb_flush_page(f->vma->mm->pgd, f->addr);
	return 0;
}

/* The parent and the child will find the swapped page through the same slot. */
static void share_slot(pte_t *from, pte_t *to, struct tally *t)
{
	swap_dup(pte_swap_slot(*from));
	t->swap++;
	*to = *from;
}

/* A page of a file belongs to the page cache; it is not written to through a private entry. */
static void share_file_page(pte_t *from, pte_t *to, struct tally *t)
{
	struct page *page = pfn_page(pte_pfn(*from));

	page->count++;
	page->mapcount++;
	t->file++;
	*to = pte_mkold(*from);
}

/* Gives the child its own frame. The parent's entry may be swapped out while we wait for the frame. */
static int copy_page_of(pte_t *from, struct fault *to, struct tally *t)
{
	struct page *copy = alloc_anon(to->vma, 0);

	if (!copy)
		return -ENOMEM;
	if (pte_is_swap(*from)) {
		page_put(copy);
		share_slot(from, to->pte, t);
		return 0;
	}
	copy_frame(copy, pfn_page(pte_pfn(*from)));
	map_new_anon(to, copy);
	if (!(to->vma->flags & VM_WRITE))
		*to->pte = pte_wrprotect(*to->pte);
	if (!(to->vma->flags & VM_READ))
		*to->pte = pte_mknoaccess(*to->pte);
	return 0;
}

static int copy_entry(pte_t *from, struct fault *to, struct tally *t)
{
	if (pte_none(*from))
		return 0;
	if (pte_is_swap(*from)) {
		share_slot(from, to->pte, t);
		return 0;
	}
	if (page_test(pfn_page(pte_pfn(*from)), PG_anon))
		return copy_page_of(from, to, t);
	share_file_page(from, to->pte, t);
	return 0;
}

/* [addr, end) lies in one page table. */
static int copy_table(struct mm_struct *child, struct vm_area_struct *vma, u32 addr, u32 end,
		      struct tally *t)
{
	pte_t *from = pte_lookup(vma->mm->pgd, addr);
	struct fault to = { .vma = vma_find(child, addr), .addr = addr };
	int err = 0;

	to.pte = pte_alloc(child->pgd, addr, &child->count.ptes);
	if (!to.pte)
		return -ENOMEM;
	for (; to.addr != end && !err; to.addr += PAGE_SIZE, to.pte++, from++)
		err = copy_entry(from, &to, t);
	return err;
}

int copy_range(struct mm_struct *child, struct vm_area_struct *vma)
{
	struct tally t = { 0 };
	int err = 0;

	for (u32 addr = vma->start, next; addr != vma->end && !err; addr = next) {
		next = table_end(addr, vma->end);
		if (pgd_has_table(vma->mm->pgd, addr))
			err = copy_table(child, vma, addr, next, &t);
	}
	tally_settle(child, &t);
	return err;
}
