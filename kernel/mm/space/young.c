/*
 * Which pages have been used: the accessed bits, shared by two readers.
 *
 * The CPU sets the accessed bit of an entry at every use and never clears it. The policy
 * (page_referenced) and the sampler (observe/sample.c) both want the uses since they last asked. So
 * when the policy clears the bit, it leaves a note for the sampler, PG_sampled; the sampler moves
 * the bit to a software bit of the same entry (pte_take_use). (Linux's idle page tracking leaves
 * notes for both readers.) After a bit is cleared, the entry's translation is flushed from the TLB;
 * otherwise the CPU would not set the bit again.
 *
 * Both bits together are pte_young. All other code tests and clears both, with the same
 * instructions for either bit, so that the sampler does not change the run.
 *
 * The access that faulted a page in does not count as a use for the policy, since otherwise every page
 * would seem to be used twice; for the sampler it counts. The CPU sets the bit for this access when the
 * task returns from the fault, after the handler. So the bit is cleared when the task next enters the
 * kernel for any reason. Uses between the fault and that entry (4 ms at most) count as part of this access.
 */
#include "mm/fault.h"
#include "mm/policy.h"
#include "mm/rmap.h"
#include "sched/current.h"

void swallow_faulting_use(void)
{
	u32 addr = current->fresh_va;
	pte_t *pte;

	current->fresh_va = 0;
	if (!current->mm)
		return;
	pte = pte_lookup(current->mm->pgd, addr);
	if (!pte || !pte_present(*pte) || !pte_young(*pte))
		return;
	*pte = pte_mkold(*pte);
	page_set(pfn_page(pte_pfn(*pte)), PG_sampled);
	tlb_flush_page(current->mm->pgd, addr);
}

/* The page's only entry, if it is the owner's, as for nearly every page; NULL: use rmap_walk. */
static pte_t *only_entry(const struct page *page)
{
	return page->mapcount == 1 && page->owner ? rmap_entry(page, page->owner) : NULL;
}

static bool test_and_clear_young(struct page *page, struct mm_struct *mm, u32 addr, pte_t *pte)
{
	if (!pte_present(*pte) || !pte_young(*pte))
		return false;
	bits_set(&page->flags, pte_accessed(*pte) << PG_sampled);
	*pte = pte_mkold(*pte);
	tlb_flush_page(mm->pgd, addr);
	return true;
}

struct seen {
	struct page *page;
	bool used;
};

static void clear_young(struct rmap_entry *e, void *arg)
{
	struct seen *seen = arg;

	seen->used |= test_and_clear_young(seen->page, e->mm, e->addr, e->pte);
}

/* page_referenced for a page with several entries. */
static out_of_line bool walk_and_clear(struct page *page)
{
	struct seen seen = { page, false };

	rmap_walk(page, clear_young, &seen);
	return seen.used;
}

bool page_referenced(struct page *page)
{
	pte_t *only = only_entry(page);
	u32 addr = page->index << PAGE_SHIFT;
	bool seen = only ? test_and_clear_young(page, page->owner, addr, only)
			 : walk_and_clear(page);

	return page_test_and_clear(page, PG_young) || seen;
}

static void test_young(struct rmap_entry *e, void *arg)
{
	if (pte_present(*e->pte) && pte_young(*e->pte))
		*(bool *)arg = true;
}

bool page_young(struct page *page)
{
	bool seen = page_test(page, PG_young);

	rmap_walk(page, test_young, &seen);
	return seen;
}

static void test_dirty(struct rmap_entry *e, void *arg)
{
	if (pte_dirty(*e->pte))
		*(bool *)arg = true;
}

bool page_dirty(struct page *page)
{
	bool dirty = !page_test(page, PG_swapcache) || page_test(page, PG_dirty);

	if (page_test(page, PG_filecache)) /* a writable entry means that it is marked dirty */
		return page_test(page, PG_dirty) || (page_test(page, PG_shmem) && dirty);
	if (!dirty)
		rmap_walk(page, test_dirty, &dirty);
	return dirty;
}

static void trap(struct rmap_entry *e, void *arg)
{
	(void)arg;
	*e->pte = pte_mknoaccess(*e->pte);
	tlb_flush_page(e->mm->pgd, e->addr);
}

void page_trap(struct page *page)
{
	rmap_walk(page, trap, NULL);
}

struct mm_struct *page_mm(struct page *page)
{
	return page->owner;
}
