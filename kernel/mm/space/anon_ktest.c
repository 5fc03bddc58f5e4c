/* Tests of anonymous memory in the running kernel: an address space, its copy, and their entries. */
#include "anon.h"
#include "internal.h"
#include "lib/ktap.h"
#include "mm/fault.h"
#include "mm/policy_core.h"
#include "mm/frames.h"
#include "sched/current.h"

#define NR_PAGES 8

static long range; /* address in the test's address space */

/* Gives current, a kernel thread, an address space with NR_PAGES untouched pages. */
static struct mm_struct *begin(void)
{
	struct mm_struct *mm = mm_create();

	if (!mm) {
		ktap_skip("no memory for an address space");
		return NULL;
	}
	current->mm = mm;
	current->pgd = mm->pgd;
	range = do_mmap(mm, 0, NR_PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0);
	EXPECT(range > 0 || range < -4095);
	return mm;
}

static void end(struct mm_struct *mm)
{
	current->mm = NULL;
	current->pgd = NULL;
	mm_destroy(mm);
}

static u32 page_of_range(u32 page)
{
	return (u32)range + page * PAGE_SIZE;
}

static void touch(struct mm_struct *mm, u32 page, u32 fault)
{
	EXPECT_EQ(handle_mm_fault(mm, page_of_range(page), fault), 0);
}

static pte_t entry(struct mm_struct *mm, u32 page)
{
	pte_t *pte = pte_lookup(mm->pgd, page_of_range(page));

	return pte ? *pte : pte_zero();
}

KTEST(anon, reading_takes_no_frame)
{
	struct mm_struct *mm = begin();

	if (!mm)
		return;
	touch(mm, 0, 0);
	touch(mm, 5, 0);
	EXPECT(is_zero_page(pfn_page(pte_pfn(entry(mm, 0)))));
	EXPECT_EQ(pte_pfn(entry(mm, 0)), pte_pfn(entry(mm, 5)));
	EXPECT(!pte_write(entry(mm, 0)) && !pte_write(entry(mm, 5)));
	EXPECT_EQ(mm_rss_pages(mm), 0);
	end(mm);
}

KTEST(anon, writing_takes_one_frame)
{
	struct mm_struct *mm = begin();

	if (!mm)
		return;
	touch(mm, 2, FAULT_WRITE);
	EXPECT(pte_present(entry(mm, 2)) && pte_write(entry(mm, 2)));
	EXPECT_EQ(mm_rss_pages(mm), 1);
	for (u32 page = 0; page < NR_PAGES; page++)
		EXPECT(page == 2 || pte_none(entry(mm, page)));
	touch(mm, 3, 0);
	touch(mm, 3, FAULT_WRITE);
	EXPECT(!is_zero_page(pfn_page(pte_pfn(entry(mm, 3)))));
	EXPECT_EQ(mm_rss_pages(mm), 2);
	end(mm);
}

KTEST(anon, memory_next_to_other_memory_of_its_kind_is_one_region)
{
	struct mm_struct *mm = begin();
	u32 behind = page_of_range(NR_PAGES);

	if (!mm)
		return;
	EXPECT_EQ(do_mmap(mm, behind, PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, NULL, 0),
		  (long)behind);
	EXPECT_EQ(vma_find(mm, range)->end, behind + PAGE_SIZE);
	EXPECT_EQ(do_mmap(mm, behind, PAGE_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			  NULL, 0),
		  (long)behind);
	EXPECT_EQ(vma_find(mm, range)->end, behind);
	end(mm);
}

KTEST(anon, fork_shares_until_a_write)
{
	static struct task_struct task;
	struct mm_struct *parent = begin(), *child;
	u32 pfn;

	if (!parent)
		return;
	touch(parent, 1, FAULT_WRITE);
	pfn = pte_pfn(entry(parent, 1));
	child = mm_fork(&task);
	EXPECT(child);
	if (child) {
		EXPECT_EQ(pte_pfn(entry(child, 1)), pfn);
		EXPECT(!pte_write(entry(parent, 1)) && !pte_write(entry(child, 1)));
		touch(child, 1, FAULT_WRITE);
		EXPECT(pte_pfn(entry(child, 1)) != pfn && pte_write(entry(child, 1)));
		touch(parent, 1, FAULT_WRITE);
		EXPECT(pte_pfn(entry(parent, 1)) == pfn && pte_write(entry(parent, 1)));
		mm_destroy(child);
	}
	end(parent);
}

KTEST(anon, last_owner_keeps_the_frame)
{
	static struct task_struct task;
	struct mm_struct *parent = begin(), *child;
	u32 pfn;

	if (!parent)
		return;
	touch(parent, 1, FAULT_WRITE);
	pfn = pte_pfn(entry(parent, 1));
	child = mm_fork(&task);
	EXPECT(child);
	if (child) {
		mm_destroy(child);
		touch(parent, 1, FAULT_WRITE);
		EXPECT(pte_pfn(entry(parent, 1)) == pfn && pte_write(entry(parent, 1)));
	}
	end(parent);
}

KTEST(anon, frame_is_the_childs_when_the_parent_has_ended)
{
	static struct task_struct task;
	struct mm_struct *parent = begin(), *child;
	struct page *page;

	if (!parent)
		return;
	touch(parent, 1, FAULT_WRITE);
	page = pfn_page(pte_pfn(entry(parent, 1)));
	child = mm_fork(&task);
	EXPECT(child);
	EXPECT_EQ(page_mm(page), parent);
	end(parent);
	if (child) {
		EXPECT_EQ(page_mm(page), child);
		mm_destroy(child);
	}
}

/* The test holds the frame, as swapoff does after it has read a page. */
KTEST(anon, frame_that_somebody_holds_has_no_owner_that_has_ended)
{
	struct mm_struct *mm = begin();
	struct page *page;

	if (!mm)
		return;
	touch(mm, 1, FAULT_WRITE);
	page = pfn_page(pte_pfn(entry(mm, 1)));
	page_get(page);
	end(mm);
	EXPECT(!page_mm(page));
	page_put(page);
}

KTEST(anon, page_that_nothing_locks_any_more_is_the_policys_again)
{
	struct mm_struct *mm = begin();
	struct page *page;

	if (!mm)
		return;
	touch(mm, 3, FAULT_WRITE);
	page = pfn_page(pte_pfn(entry(mm, 3)));
	EXPECT_EQ(do_mlock(mm, page_of_range(3), PAGE_SIZE, true), 0);
	EXPECT(page_test(page, PG_mlocked) && !page_test(page, PG_owned));
	EXPECT_EQ(do_mlock(mm, page_of_range(3), PAGE_SIZE, false), 0);
	EXPECT(!page_test(page, PG_mlocked) && page_test(page, PG_owned));
	end(mm);
}

/* A page with a copy in a slot (PG_swapcache) is dirty if an entry has the dirty bit. */
KTEST(anon, page_with_a_copy_is_dirty_when_it_has_been_written)
{
	struct mm_struct *mm = begin();
	struct page *page;
	pte_t *pte;

	if (!mm)
		return;
	touch(mm, 0, FAULT_WRITE);
	pte = pte_lookup(mm->pgd, page_of_range(0));
	page = pfn_page(pte_pfn(*pte));
	EXPECT(page_dirty(page));
	page_set(page, PG_swapcache);
	*pte = pte_mkclean(*pte);
	EXPECT(!page_dirty(page));
	*pte = pte_mkdirty(*pte);
	EXPECT(page_dirty(page));
	page_clear(page, PG_swapcache);
	end(mm);
}
