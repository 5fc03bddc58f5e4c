/* The functions that a policy may call: the simulator's version of those in mm/policy.h. See vmsim.h. */
#include "vmsim.h"

void *sim_future;

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

bool page_is_mapped(const struct page *page)
{
	return entry_of(page)->mapped;
}

bool page_is_executable(const struct page *page)
{
	return entry_of(page)->text;
}

struct page_id page_id_of(const struct page *page)
{
	struct page_id id = { FILE_STORE, page->index };

	if (!page_is_file(page)) {
		id.index = entry_of(page)->slot;
		id.store = id.index ? SWAP_STORE : 0;
	}
	return id;
}

u32 page_vpn(const struct page *page)
{
	return page->index;
}

/* The swap area never fills, but this bounds the ghosts: enough for all pages of the largest area. */
u32 vm_slots(void)
{
	return 4 * max_pfn;
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
	return mm->ran_ns + (mm == sim_current ? sim_now_ns - sim_since_ns : 0);
}

bool mm_sleeps(struct mm_struct *mm)
{
	return mm->asleep;
}

/* Nothing is read ahead here. */
void vm_prepage(struct mm_struct *mm)
{
	(void)mm;
}

/* The process demands the pages that it has referenced so far. */
u32 mm_demand(struct mm_struct *mm)
{
	return mm->demand;
}

u32 mm_rss(struct mm_struct *mm)
{
	return mm->resident;
}

u32 vm_frames(void)
{
	return max_pfn;
}

void *vm_future(void)
{
	return sim_future;
}

struct mm_struct *vm_next_mm(struct mm_struct *mm)
{
	return mm ? mm->next : sim_oldest;
}

void *policy_mm(struct mm_struct *mm)
{
	return mm->policy;
}
