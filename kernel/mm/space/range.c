/*
 * Unmapping ranges of page-table entries. Fork is in anon.c, protection in protect.c.
 *
 * The caller holds mm->lock, so only reclaim can change entries meanwhile, and only while this task
 * sleeps. Nothing here sleeps while it processes the entries of one page table. Counters and TLB
 * entries are updated once per range.
 */
#include "internal.h"
#include "mm/policy_core.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/frames.h"

void tally_settle(struct mm_struct *mm, const struct tally *t)
{
	if (t->anon)
		mm_count_anon(mm, t->anon);
	if (t->file)
		mm_count_file(mm, t->file);
	mm->count.swapents += t->swap;
}

/* Disowns for mm a frame that no entry maps any more, but that is still referenced: by the swap
 * cache, reclaim or swapoff, all of which may outlive mm. One reference is the caller's. */
static void leave_to_others(struct mm_struct *mm, struct page *page)
{
	swap_cache_release(page);
	if (page->count > 1 && page->owner == mm)
		page_disown(page);
}

static void zap_swap(struct mm_struct *mm, u32 slot)
{
	struct page *page = swap_cache_get(slot);

	swap_free(slot);
	if (!page)
		return;
	leave_to_others(mm, page);
	page_put(page);
}

static void zap_file(struct vm_area_struct *vma, struct page *page, pte_t e, struct tally *t)
{
	t->file--;
	page->mapcount--;
	if (page_test(page, PG_filecache)) {
		if (vma->flags & VM_LOCKED)
			page_unpin(page);
		cache_note_unmap(page, vma->mm, pte_present(e) && pte_young(e));
	}
	page_put(page);
}

static void zap_page(struct vm_area_struct *vma, struct page *page, pte_t e, struct tally *t)
{
	if (is_zero_page(page))
		return;
	if (!page_test(page, PG_anon)) {
		zap_file(vma, page, e, t);
		return;
	}
	t->anon--;
	page->mapcount--;
	if (vma->flags & VM_LOCKED && (page->mapcount || page_test(page, PG_swapcache)))
		page_unpin(page);
	if (page->mapcount) {
		if (page->owner == vma->mm)
			page_disown(page);
	} else if (page->count > 1) {
		leave_to_others(vma->mm, page);
	}
	page_put(page);
}

void unmap_page(struct vm_area_struct *vma, struct page *page)
{
	struct tally t = { 0 };

	zap_page(vma, page, pte_zero(), &t);
	tally_settle(vma->mm, &t);
}

static void zap_table(struct vm_area_struct *vma, u32 addr, u32 end, struct tally *t)
{
	pte_t *pte = pte_lookup(vma->mm->pgd, addr);

	for (; addr != end; addr += PAGE_SIZE, pte++) {
		pte_t e = *pte;

		if (pte_none(e))
			continue;
		*pte = pte_zero();
		if (pte_is_swap(e)) {
			t->swap--;
			zap_swap(vma->mm, pte_swap_slot(e));
		} else {
			zap_page(vma, pfn_page(pte_pfn(e)), e, t);
		}
	}
}

void zap_range(struct vm_area_struct *vma, u32 start, u32 end, struct tally *t)
{
	pgd_t *pgd = vma->mm->pgd;

	if (vma->flags & VM_HUGE) {
		huge_unmap(vma, start, end);
		return;
	}
	for (u32 next; start != end; start = next) {
		next = table_end(start, end);
		if (pgd_has_table(pgd, start))
			zap_table(vma, start, next, t);
	}
	tlb_flush_all(pgd);
}

void unmap_range(struct vm_area_struct *vma, u32 start, u32 end)
{
	struct tally t = { 0 };

	zap_range(vma, start, end, &t);
	tally_settle(vma->mm, &t);
}

/* Frees the page tables around an unmapped range that map nothing any more. */
void free_tables_around(struct mm_struct *mm, u32 start, u32 end)
{
	struct vm_area_struct *next = vma_find(mm, start), *prev;
	u32 lo = ALIGN_DOWN(start, TABLE_SPAN), hi = ALIGN_UP(end, TABLE_SPAN);

	if (next)
		prev = vma_prev(next);
	else
		prev = list_empty(&mm->vma_list)
			       ? NULL
			       : list_last_entry(&mm->vma_list, struct vm_area_struct, list);
	if (prev && prev->end > lo)
		lo += TABLE_SPAN;
	if (next && next->start < hi)
		hi -= TABLE_SPAN;
	if (lo < hi)
		mm->count.ptes -= pgd_free_tables(mm->pgd, lo, hi);
}
