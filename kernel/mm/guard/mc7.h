/*
 * Common code of the patches of section 7: while memory is short, do something to the pages of the
 * process that will run next (leftmost) or last (rightmost).
 *
 * The patches act in pick_next_entity, whenever the scheduler chooses, if the priority of the last
 * scan was less than 4 (7.4.1: 2 or less). The guard interface has no hook at context switches.
 * While the machine thrashes, most switches are caused by faults that must read. So the guards act
 * at each of those faults, if any process waits for the processor. They learn the priority when a
 * scan asks whether a page is spared; none is. A scan at priority 0 does not ask, but priority 1
 * comes before it.
 *
 * Three counters show why little may happen. `calm` counts faults at which the priority was not low
 * enough, `alone` faults at which the run queue was empty, and `lowest` is the lowest priority
 * seen. The run queue of a machine that thrashes is often empty, and a policy that gives up pages
 * readily never gets to priority 3: NAME.below=13 makes the guard act always.
 *
 * Where the patches call mark_page_accessed, the guards report VM_TOUCH_IO, a use that is reported
 * to the policy. 2q and useonce then do what that function does in Linux 3.0, mglru what it does in
 * 6.1; clock and fifo ignore the report.
 */
#ifndef MM_GUARD_MC7_H
#define MM_GUARD_MC7_H

#include "mc.h"

static u32 pagegrab, below; /* each guard has its own values */

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

/* Calls mark_page_accessed this number of times. */
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
