/* What policies and guards may ask about pages, memory and time (mm/policy.h). */
#include "arch/time.h"
#include "fs/vfs.h"
#include "mm/bootmem.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/frames.h"
#include "mm/zone.h"

u64 vm_now(void)
{
	return clock_ns();
}

bool page_is_file(const struct page *page)
{
	return !(page->flags & (1u << PG_anon | 1u << PG_shmem));
}

bool page_is_mapped(const struct page *page)
{
	return page->mapcount;
}

bool page_is_executable(const struct page *page)
{
	u32 index = page->file_index;
	struct interval *i;

	if (!page_test(page, PG_filecache) || !page->mapcount)
		return false;
	for_each_interval(i, &page->inode->cache.regions, index, index)
		if (rb_entry(i, struct vm_area_struct, mapping)->flags & VM_EXEC)
			return true;
	return false;
}

struct page_id page_id_of(const struct page *page)
{
	bool has = page_test(page, PG_swapcache);

	if (page_test(page, PG_filecache))
		return (struct page_id){ page->inode ? page->inode->cache.store : 0,
					 page->file_index };
	return (struct page_id){ has ? SWAP_STORE : 0, has ? page->slot : 0 };
}

u32 page_vpn(const struct page *page)
{
	const struct mm_struct *mm = page_test(page, PG_anon) ? page->owner : NULL;

	return mm && !RB_EMPTY_ROOT(&mm->family->moved) ? vpn_in_owner(page) : page->index;
}

u32 vm_slots(void)
{
	return swap_nr_slots;
}

u32 mm_demand(struct mm_struct *mm)
{
	return mm->count.demand;
}

u32 vm_frames(void)
{
	u32 have = vm_nr_isolated + zones_nr_owned(), spare = 0;

	for (int i = 0; i < MAX_ZONES; i++)
		spare += zone_spare(&zones[i]);
	have += spare;
	return frames_cap ? MIN(have, frames_cap) : have;
}

void *vm_future(void)
{
	return bootmem_future();
}
