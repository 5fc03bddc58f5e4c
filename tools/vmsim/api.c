/* What a policy may call: the right-hand side of mm/policy.h. See vmsim.h. */
#include "vmsim.h"

bool page_referenced(struct page *page)
{
	bool used = page_test_and_clear(page, PG_young);

	report_looked(page, used);
	return used;
}

bool page_young(struct page *page)
{
	bool used = page_test(page, PG_young);

	report_looked(page, used);
	return used;
}

bool page_dirty(struct page *page)
{
	return page_test(page, PG_dirty);
}

void page_trap(struct page *page)
{
	memory_fault_first(page);
}

struct mm_struct *page_mm(struct page *page)
{
	return page->owner;
}

u64 vm_now(void)
{
	return sim_now_ns;
}

u64 mm_vtime(struct mm_struct *mm)
{
	(void)mm;
	return sim_now_ns;
}

bool mm_sleeps(struct mm_struct *mm)
{
	(void)mm;
	return false;
}

u32 mm_rss(struct mm_struct *mm)
{
	(void)mm;
	return sim_resident;
}

u32 vm_frames(void)
{
	return max_pfn;
}

struct mm_struct *vm_next_mm(struct mm_struct *mm)
{
	return mm ? NULL : &sim_mm;
}

void *policy_mm(struct mm_struct *mm)
{
	return mm->policy;
}
