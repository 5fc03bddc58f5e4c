/*
 * Anonymous memory: pages of no file, which begin as zeros. Everything is put off until a program
 * cannot do without it, and then done for one page.
 *
 *   state of a page      entry                       its frame
 *   untouched            empty                       none
 *   only read            read-only                   the frame of zeros, one for the whole machine
 *   written              writable                    its own
 *   shared after a fork  read-only, in all who       one for all of them; each entry holds a
 *                        share it                    reference and counts in mapcount
 *
 * A fork copies the page tables, not the pages. Private pages lose the right to write on both
 * sides, so that the first write of either faults: it gets a copy of its own, the others keep the
 * frame. When all others have gone (copied, unmapped, ended), the frame is the last one's own and
 * is made writable where it is.
 *
 * "Others" are not entries only: a page in the swap cache has a slot, and entries of other
 * processes that name the slot will find the frame through it.
 *
 * All of this holds the mm->lock of the address space whose entry changes (the new one of a fork
 * is nobody's yet). Whatever allocates may sleep, and reclaim may change entries meanwhile. The
 * CPU's TLB may hold a translation with rights that the entry has lost: it must be flushed before
 * the program runs again.
 */
#include "anon.h"
#include "errno.h"
#include "internal.h"
#include "mm/swap.h"
#include "mm/vmstat.h"

int fault_anon(struct fault *f)
{
	struct page *page;

	if (!f->write) {
		*f->pte = pte_make(page_pfn(zero_page), false);
		return 0;
	}
	page = alloc_anon(f->vma, GFP_ZERO);
	if (!page)
		return -ENOMEM;
	map_new_anon(f, page);
	return 0;
}

/* Nobody else can see the frame: neither another entry nor, through the swap cache, a slot. */
static bool frame_is_ours(const struct page *page)
{
	if (!page_test(page, PG_anon) || page->mapcount != 1)
		return false;
	return !page_test(page, PG_swapcache) || !swap_count(page->slot);
}

/* Does an entry say the same, but for uses, as before we slept? */
static bool same_page(pte_t now, pte_t before)
{
	return pte_same(pte_mkold(now), pte_mkold(before));
}

static int make_writable(struct fault *f)
{
	stat_count(pgreuse);
	*f->pte = pte_mkwrite(*f->pte);
	tlb_flush_page(f->vma->mm->pgd, f->addr);
	return 0;
}

/* Of a file with a store: the first write to a page since it was clean. */
static int write_stored(struct fault *f, struct page *page)
{
	pte_t entry = *f->pte;
	int err;

	page_get(page);
	err = cache_make_writable(f->vma->inode, page);
	if (!err && same_page(*f->pte, entry))
		make_writable(f);
	page_put(page);
	return err == -EAGAIN ? 0 : err ? -EIO : 0;
}

/* A hole of a file gets a page when the access faults again. */
static int write_shared(struct fault *f, struct page *page)
{
	if (page_test(page, PG_filecache))
		return write_stored(f, page);
	if (!is_zero_page(page))
		return make_writable(f);
	*f->pte = pte_zero();
	tlb_flush_page(f->vma->mm->pgd, f->addr);
	return 0;
}

/* The old frame is not held while we wait for a new one: it may be the one that makes room. */
int fault_copy_on_write(struct fault *f)
{
	struct page *old = pfn_page(pte_pfn(*f->pte)), *copy;
	pte_t entry = *f->pte;

	if (f->vma->flags & VM_SHARED)
		return write_shared(f, old);
	if (frame_is_ours(old))
		return make_writable(f);
	copy = alloc_anon(f->vma, is_zero_page(old) ? GFP_ZERO : 0);
	if (!copy)
		return -ENOMEM;
	if (!same_page(*f->pte, entry)) {
		page_put(copy);
		return 0;
	}
	*f->pte = pte_zero();
	if (!is_zero_page(old)) {
		copy_frame(copy, old);
		unmap_page(f->vma, old);
	}
	map_new_anon(f, copy);
	tlb_flush_page(f->vma->mm->pgd, f->addr);
	return 0;
}

/* The child's entry for what the parent's entry maps; both lose the right to write. */
static pte_t share_entry(struct vm_area_struct *vma, pte_t *pte, struct tally *t)
{
	struct page *page = pfn_page(pte_pfn(*pte));

	if (!(vma->flags & VM_SHARED) && pte_write(*pte))
		*pte = pte_wrprotect(*pte);
	if (is_zero_page(page))
		return *pte;
	page->count++;
	page->mapcount++;
	if (page_test(page, PG_anon))
		t->anon++;
	else
		t->file++;
	return pte_mkold(*pte);
}

static void share_table(struct vm_area_struct *vma, pte_t *from, pte_t *to, u32 nr, struct tally *t)
{
	for (; nr; nr--, from++, to++) {
		if (pte_none(*from))
			continue;
		if (pte_is_swap(*from)) {
			swap_dup(pte_swap_slot(*from));
			t->swap++;
			*to = *from;
		} else {
			*to = share_entry(vma, from, t);
		}
	}
}

int copy_range(struct mm_struct *child, struct vm_area_struct *vma)
{
	struct mm_struct *parent = vma->mm;
	struct tally t = { 0 };
	int err = 0;

	for (u32 addr = vma->start, next; addr != vma->end && !err; addr = next) {
		pte_t *to;

		next = table_end(addr, vma->end);
		if (!pgd_has_table(parent->pgd, addr))
			continue;
		to = pte_alloc(child->pgd, addr, &child->count.ptes);
		if (to)
			share_table(vma, pte_lookup(parent->pgd, addr), to,
				    (next - addr) / PAGE_SIZE, &t);
		else
			err = -ENOMEM;
	}
	tally_settle(child, &t);
	tlb_flush_all(parent->pgd);
	return err;
}
