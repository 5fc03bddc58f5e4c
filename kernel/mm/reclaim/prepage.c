/*
 * Prepaging: reading what a process has in the swap area before it asks for it.
 *
 * Demand paging brings a process that was out of memory back with a seek for every few pages. Its pages
 * lie in the swap area in the order in which they left, mostly side by side: read in order of slots they
 * come at the speed of the disk. They are in the swap cache afterwards, nobody's, until a fault
 * claims them. Frames are taken down to the min watermark, never by reclaim: kswapd makes new ones
 * meanwhile, and who wants more asks again.
 */
#include "mm/mm.h"
#include "mm/reclaim.h"
#include "mm/swap.h"
#include "proc/task.h"

#define AT_ONCE 1024 /* pages looked for */

/* Slots of pages of mm that are not in memory. It does not sleep, so nothing changes meanwhile. */
static u32 collect(struct mm_struct *mm, u32 *slots)
{
	u32 nr = 0;

	for (u32 addr = 0; addr < TASK_SIZE; addr += TABLE_SPAN) {
		const pte_t *table = pgd_has_table(mm->pgd, addr) ? pte_lookup(mm->pgd, addr)
								  : NULL;

		for (u32 i = 0; table && i < PTRS_PER_PTE && nr < AT_ONCE; i++)
			if (pte_is_swap(table[i]) && !swap_cached(pte_swap_slot(table[i])))
				slots[nr++] = pte_swap_slot(table[i]);
	}
	return nr;
}

/* Shell's (CACM 2(7), 1959). */
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

void swap_prepage(struct mm_struct *mm)
{
	static u32 slots[AT_ONCE];
	u32 nr = collect(mm, slots), reclaims = current->flags & TF_RECLAIM;

	sort(slots, nr);
	current->flags &= ~TF_RECLAIM; /* which may use the last frame */
	for (u32 i = 0; i < nr; i++)
		if (swap_slot_valid(slots[i]) && !swap_cached(slots[i]) &&
		    !swap_prefetch(slots[i], MAX_CLUSTER))
			break;
	current->flags |= reclaims;
}
