/* What guards may ask in addition to policies (mm/guard.h): touched pages, idle time, free frames, the run queue. */
#include "mm/frames.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/zone.h"
#include "sched/current.h"
#include "sched/sched.h"

u32 mm_touched(struct mm_struct *mm)
{
	return mm_rss_pages(mm) + mm->count.swapents;
}

u32 mm_pid(struct mm_struct *mm)
{
	return mm->task ? mm->task->pid : 0;
}

u64 vm_idle(void)
{
	return sched_idle_ns();
}

u32 vm_free(u32 times)
{
	u32 n = 0;

	for (int i = 0; i < MAX_ZONES; i++) {
		u32 keep = times * zones[i].watermark[WMARK_HIGH];

		n += zones[i].nr_free > keep ? zones[i].nr_free - keep : 0;
	}
	if (!frames_cap)
		return n;
	return MIN(n, frames_cap > frames_used ? frames_cap - frames_used : 0);
}

struct mm_struct *vm_queued(bool last)
{
	struct task_struct *task = sched_queued(last);

	return task ? task->mm : NULL;
}
