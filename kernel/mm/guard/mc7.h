/*
 * Common code of the patches of section 7: while memory is short, do something to the pages of the
 * process that will run next (leftmost) or last (rightmost).
 *
 * The patches act in pick_next_entity, whenever the scheduler chooses, if the priority of the last
 * scan was less than 4 (7.4.1: 2 or less). The guard interface has no hook at context switches.
 * While the machine thrashes, most switches are caused by faults that must read. So the guards act
 * at each of those faults, if any process waits for the processor.
 *
 * Which priority? In Linux, kswapd lowers it by one after a pass that freed too little, and a pass
 * at priority p looks at 1/2^p of the pages: it gets below p when it has looked at about that share
 * of memory in vain. A dirty page is in vain: it is sent to be written, and free only later. Here a
 * dirty page counts as success when it is sent, and the priority rarely falls. So the guards count
 * pages that scans look at (each scan asks whether a page is spared; none is): after n dirty ones
 * in a row the priority has fallen to the largest p for which n is at most frames / 2^p, or to that
 * of the scan, if that is lower.
 *
 * Three counters show why little may happen. `calm` counts faults at which the priority was not low
 * enough, `alone` faults at which the run queue was empty, and `lowest` is the lowest priority
 * seen. The run queue of a machine that thrashes is often empty. NAME.below=13 makes the guard act
 * always.
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
	{ "pagegrab", &pagegrab, 1, MC_ALL, NULL, "pages in a call" },
	{ "below", &below, 0, 13, NULL, "acts when the priority of the last scan is below this" },
	MC_KIND,
	{ 0 },
};

static int last_priority = 12, lowest = 12;
static u64 nr_calm, nr_alone, nr_acted, nr_pages;
static u32 nr_dirty; /* pages looked at since the last clean one */

/* Returns the priority that kswapd reaches in Linux after this number of dirty pages. */
static inline int mc_priority(u32 nr)
{
	int priority = 12;

	while (priority > 0 && nr > vm_frames() >> priority)
		priority--;
	return priority;
}

static bool mc_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)owner;
	nr_dirty = page_dirty(page) ? nr_dirty + 1 : 0;
	last_priority = MIN(scan->priority, mc_priority(nr_dirty));
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
