/*
 * Who used which page: the accessed bits, shared by two readers.
 *
 * The CPU sets the accessed bit of an entry at every use and never clears it. The policy
 * (page_referenced) and the sampler (observe/sample.c) both ask "since I last asked". So the policy,
 * when it clears the bit, leaves a note for the sampler, PG_sampled; the sampler moves the bit to
 * a software bit of the same entry (pte_take_use). (Linux's idle page tracking
 * leaves notes for both.) A cleared entry's translation is dropped, else the CPU would not set the
 * bit again.
 *
 * Both bits together are pte_young. All other code tests and clears both, by the same
 * instructions for either bit: so the sampler does not change the run.
 *
 * The access that faulted a page in is not a use to the policy, to which it would make every page
 * look used twice; to the sampler it is one. The CPU sets the bit for it on the way out of the
 * fault, after the handler; so it is cleared when the task next enters the kernel, for whatever
 * reason. Uses between the fault and that entry (4 ms at most) count as part of the faulting access.
 */
#include "mm/policy.h"
#include "mm/rmap.h"
#include "proc/task.h"
#include "sched/entry.h"

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

/* The entry of a page that has but one, its owner's, as nearly every page; NULL: ask rmap_walk. */
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

/* Apart, so that a page with one entry costs no more than that. */
static __attribute__((noinline)) bool walk_and_clear(struct page *page)
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

	if (page_test(page, PG_filecache)) /* who may write to it has made it dirty */
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
