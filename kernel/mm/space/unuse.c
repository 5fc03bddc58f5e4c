/*
 * For swapoff: maps pages that are back from swap without a fault. One walk over the page tables of
 * all processes maps every page that is in the swap cache for certain slots.
 *
 * The walk takes no mm->lock. That lock keeps regions and page tables unchanged across sleeps, but nothing
 * here sleeps within one address space; as in reclaim, an entry is complete whenever other tasks run.
 * The process has not used the page: so its entry is old, and the policy sees a page taken over (ADOPT).
 */
#include "internal.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/frames.h"
#include "sched/current.h"

struct slots {
	u32 first, end;
};

static pte_t make_entry(const struct vm_area_struct *vma, const struct page *page, bool writable)
{
	pte_t e = pte_mkold(pte_make(page_pfn(page), writable && vma->flags & VM_WRITE));

	return vma->flags & VM_READ ? e : pte_mknoaccess(e);
}

static void map_cached(struct vm_area_struct *vma, u32 addr, pte_t *pte, struct page *page)
{
	u32 slot = page->slot;
	bool exclusive = swap_count(slot) == 1 && !page->mapcount;
	struct page_id none = { 0 };

	if (page_test(page, PG_owned) && !page->mapcount)
		policy_call_remove(page, VM_OUT_MOVED);
	page_get(page);
	page_add_anon(page, vma, addr);
	page_clear(page, PG_readahead);
	*pte = make_entry(vma, page, exclusive);
	vma->mm->count.swapents--;
	if (vma->flags & VM_LOCKED)
		page_pin(page);
	else if (!page_test(page, PG_owned) && !page_test(page, PG_isolated) &&
		 !page_test(page, PG_mlocked))
		policy_call_insert(page, page->owner, VM_IN_ADOPT, none);
	swap_free(slot);
	if (!swap_count(slot) && !page_test(page, PG_isolated))
		swap_cache_del(page);
}

static void unuse_entry(struct vm_area_struct *vma, u32 addr, pte_t *pte, const struct slots *s)
{
	u32 slot = pte_swap_slot(*pte);
	struct page *page;

	if (slot < s->first || slot >= s->end)
		return;
	page = swap_cache_get(slot);
	if (!page)
		return;
	if (!page_test(page, PG_locked) && page_test(page, PG_uptodate))
		map_cached(vma, addr, pte, page);
	page_put(page);
}

static void unuse_region(struct vm_area_struct *vma, const struct slots *s)
{
	for (u32 addr = vma->start, next; addr != vma->end; addr = next) {
		pte_t *pte;

		next = table_end(addr, vma->end);
		if (!pgd_has_table(vma->mm->pgd, addr))
			continue;
		pte = pte_lookup(vma->mm->pgd, addr);
		for (u32 at = addr; at != next; at += PAGE_SIZE, pte++)
			if (pte_is_swap(*pte))
				unuse_entry(vma, at, pte, s);
	}
}

void unuse_slots(u32 first, u32 end)
{
	const struct slots s = { first, end };
	struct vm_area_struct *vma;
	struct mm_struct *mm;

	for (u32 id = 0; (mm = mm_after(id)); cond_resched()) {
		id = mm->id;
		if (!mm->count.swapents)
			continue;
		list_for_each_entry(vma, &mm->vma_list, list)
			unuse_region(vma, &s);
	}
}
