/*
 * What the patches of section 7 have in common: while memory is short, do something to the pages
 * of the process that will run next (leftmost), or last (rightmost).
 *
 * There it is done in pick_next_entity, whenever the scheduler chooses, if the priority of the
 * last scan was less than 4 (7.4.1: 2 or less). The seam has no hook at switches of processes;
 * what switches them while it thrashes are faults that must read, so here it is done at each of
 * those, if anybody waits for the processor. The priority is learnt when a scan asks whether a
 * page is spared; none is. Priority 0 does not ask; before it comes 1.
 *
 * Three counters tell why little may happen: `calm` faults found no distress, at `alone` ones
 * nobody was in the queue, `lowest` is the lowest priority that was seen. The queue of a machine
 * that thrashes is often empty, and a policy that gives pages readily never comes to 3:
 * NAME.below=13 makes the guard act always.
 */
#ifndef MM_GUARD_MC7_H
#define MM_GUARD_MC7_H

#include "mc.h"

static int last_priority = 12, lowest = 12;
static u64 nr_calm, nr_alone, nr_acted, nr_pages;

static bool mc_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)owner;
	last_priority = scan->priority;
	lowest = MIN(lowest, last_priority);
	return false;
}

static inline void mc_fault(bool rightmost, u32 below, u32 pages, void (*work)(struct page *page))
{
	struct mm_struct *mm;

	if (last_priority >= (int)below) {
		nr_calm++;
		return;
	}
	mm = vm_queued(rightmost);
	if (!mm) {
		nr_alone++;
		return;
	}
	nr_acted++;
	mc_walk(mm, pages, work);
}

static void mc_show(struct seq_file *m)
{
	show_u64(m, "lowest", lowest);
	show_u64(m, "calm", nr_calm);
	show_u64(m, "alone", nr_alone);
	show_u64(m, "acted", nr_acted);
	show_u64(m, "pages", nr_pages);
}

#endif
