/*
 * Prepaging: reading the swapped pages of a process before the process accesses them.
 *
 * With demand paging, a process that was swapped out returns with a seek for every few pages. Its
 * pages lie in the swap area in the order in which they were evicted, mostly side by side: read in
 * order of slots, they arrive at the full speed of the disk. Pages of other processes that lie between
 * them are read, too, and dropped, if that takes less time than moving the disk's arm. The pages are
 * then in the swap cache, unowned by any process, until a fault claims them. Frames are taken down to
 * the min watermark, never by reclaim: kswapd frees new ones meanwhile, and a caller that wants more
 * pages calls again.
 */
#include "mm/mm.h"
#include "mm/policy.h"
#include "mm/reclaim.h"
#include "mm/swap.h"
#include "sched/current.h"

/* Collects the slots of pages of mm that are not resident. Does not sleep, so nothing changes meanwhile. */
static u32 collect(struct mm_struct *mm, u32 *slots)
{
	u32 nr = 0;

	for (u32 addr = 0; addr < TASK_SIZE; addr += TABLE_SPAN) {
		const pte_t *table = pgd_has_table(mm->pgd, addr) ? pte_lookup(mm->pgd, addr)
								  : NULL;

		for (u32 i = 0; table && i < PTRS_PER_PTE && nr < PREPAGE_MOST; i++)
			if (pte_is_swap(table[i]) && !swap_cached(pte_swap_slot(table[i])))
				slots[nr++] = pte_swap_slot(table[i]);
	}
	return nr;
}

/* Shell sort (CACM 2(7), 1959). */
static void sort(u32 *slots, u32 nr)
{
	for (u32 gap = nr / 2; gap; gap /= 2)
		for (u32 i = gap; i < nr; i++) {
			u32 slot = slots[i], j = i;

			for (; j >= gap && slots[j - gap] > slot; j -= gap)
				slots[j] = slots[j - gap];
			slots[j] = slot;
		}
}

void swap_prepage(struct mm_struct *mm, u32 most)
{
	static u32 slots[PREPAGE_MOST];
	u32 nr = collect(mm, slots), reclaims = current->flags & TF_RECLAIM;

	sort(slots, nr);
	current->flags &= ~TF_RECLAIM; /* a reclaiming task may use the last frame */
	swap_read_sorted(slots, MIN(nr, most));
	current->flags |= reclaims;
}
