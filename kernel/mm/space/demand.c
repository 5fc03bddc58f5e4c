/*
 * Demand: the total memory that all processes demand, resident or not, and its largest value.
 *
 * A process demands the pages of its anonymous and of its private writable regions (MAD: S. Jiang,
 * X. Zhang, "TPF", Software: Practice and Experience 32(3), 2002). The sum reaches its peaks
 * immediately before memory is released: a region shrinks, a process ends or executes another
 * program. Only then, and only if the sum is the largest so far, are the processes counted. An
 * address space that is being created by fork or exec belongs to no process yet.
 *
 * A process that demands less than a twentieth of the largest one is not counted: for example, a
 * shell that waits for the programs it has started. Neither is init.
 */
#include "mm/demand.h"

#include "mm/mm.h"
#include "sched/current.h"

#define SMALL 20u

u32 demand_sum, demand_seen;

static struct demand most;

static bool counts(const struct mm_struct *mm)
{
	return mm->task && mm->task->pid != 1;
}

static struct demand of_large(u32 largest)
{
	struct demand d = { 0, 0 };
	struct mm_struct *mm;

	for_each_mm(mm)
		if (counts(mm) && mm->count.demand * SMALL >= largest) {
			d.pages += mm->count.demand;
			d.processes++;
		}
	return d;
}

void demand_count(void)
{
	struct mm_struct *mm;
	u32 largest = 0;

	demand_seen = demand_sum;
	for_each_mm(mm)
		largest = counts(mm) ? MAX(largest, mm->count.demand) : largest;
	most = of_large(largest);
}

struct demand demand_most(void)
{
	demand_peaks();
	return most;
}
