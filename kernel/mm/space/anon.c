/*
 * Anonymous memory: pages without a file, which begin as zeros. All work is deferred until a
 * program needs it, and is then done for a single page.
 *
 *   state of a page      entry                       its frame
 *   untouched            empty                       none
 *   only read            read-only                   the frame of zeros, one for the whole machine
 *   written              writable                    its own
 *   shared after a fork  read-only, in all           one for all of them; each entry holds a
 *                        processes that share it     reference and counts in mapcount
 *
 * A fork copies the page tables, not the pages. Parent and child lose the right to write to private
 * pages, so that the first write of either one faults: the writer gets its own copy, and the others
 * keep the frame. When all others have released the frame (copied, unmapped, exited), it belongs to
 * the last process alone and is made writable without a copy.
 *
 * "Others" are not only entries that map the frame: a page in the swap cache has a slot, and
 * entries of other processes that name the slot will find the frame through it.
 *
 * All functions hold the mm->lock of the address space whose entry changes (in a fork no other task
 * can use the new one yet). Every allocation may sleep, and reclaim may change entries meanwhile.
 * The CPU's TLB may hold a translation with rights that the entry has lost: it must be flushed
 * before the program runs again.
 */
#include "anon.h"
#include "errno.h"
#include "internal.h"
#include "mm/swap.h"
#include "mm/vmstat.h"

/* lab: faults */
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

/* Returns true if no other entry can reach the frame, either directly or through its swap slot. */
static bool frame_is_ours(const struct page *page)
{
	if (!page_test(page, PG_anon) || page->mapcount != 1)
		return false;
	return !page_test(page, PG_swapcache) || !swap_count(page->slot);
}

/* Is the entry the same as before we slept, apart from the accessed bits? */
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

/* Handles the first write to a page of a file with a store since the page was clean. */
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

/* A hole of a file is only unmapped here; it gets a page when the access faults again. */
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

/* While we wait for a new frame we hold no reference to the old one: evicting it may make room. */
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

/* Returns the child's entry for the page that the parent's entry maps; both lose the right to write. */
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
/* lab: end */
