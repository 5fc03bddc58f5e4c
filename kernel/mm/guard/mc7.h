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
 *
 * His mark_page_accessed is VM_TOUCH_IO, a use that the policy is told of: 2q and useonce do what
 * that function does, mglru what it does there; clock and fifo do not listen.
 */
#ifndef MM_GUARD_MC7_H
#define MM_GUARD_MC7_H

#include "mc.h"

static u32 pagegrab, below; /* each guard has values of its own */

static const struct vm_param mc_params[] = {
	{ "pagegrab", &pagegrab, 1, 4096, NULL, "pages in a call" },
	{ "below", &below, 0, 13, NULL, "acts when the priority of the last scan is below this" },
	MC_KIND,
	{ 0 },
};

static int last_priority = 12, lowest = 12;
static u64 nr_calm, nr_alone, nr_acted, nr_pages;

static bool mc_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)owner;
	last_priority = scan->priority;
	lowest = MIN(lowest, last_priority);
	return false;
}

/* mark_page_accessed, so many times. */
static inline void mc_mark(struct page *page, u32 times)
{
	nr_pages++;
	while (times--)
		vm_hint(page, VM_TOUCH_IO);
}

static inline void mc_fault(bool rightmost, void (*work)(struct page *page))
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
	mc_walk(mm, pagegrab, work);
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
