/* Resources used by a task. Times come from its accounts, which are exact. */
#include "proc/rusage.h"
#include "mm/mm.h"
#include "sched/task.h"

static struct timeval32 to_timeval(u64 ns)
{
	u64 us = ns / 1000;

	return (struct timeval32){ .sec = us / 1000000, .usec = us % 1000000 };
}

static u32 max_rss(const struct task_struct *t)
{
	return t->mm ? t->mm->count.max_rss : t->max_rss;
}

void rusage_self(struct task_struct *t, struct rusage *ru)
{
	*ru = (struct rusage){
		.utime = to_timeval(task_utime_ns(t)),
		.stime = to_timeval(task_stime_ns(t)),
		.maxrss = max_rss(t) << (PAGE_SHIFT - 10),
		.minflt = t->nr_minflt,
		.majflt = t->nr_majflt,
		.nvcsw = t->nvcsw,
		.nivcsw = t->nivcsw,
	};
}

void rusage_children(struct task_struct *t, struct rusage *ru)
{
	*ru = (struct rusage){
		.utime = to_timeval(t->child_utime_ns),
		.stime = to_timeval(t->child_stime_ns),
		.maxrss = t->child_max_rss << (PAGE_SHIFT - 10),
		.minflt = t->child_minflt,
		.majflt = t->child_majflt,
	};
}

void rusage_both(struct task_struct *t, struct rusage *ru)
{
	rusage_self(t, ru);
	ru->utime = to_timeval(task_utime_ns(t) + t->child_utime_ns);
	ru->stime = to_timeval(task_stime_ns(t) + t->child_stime_ns);
	ru->maxrss = MAX(max_rss(t), t->child_max_rss) << (PAGE_SHIFT - 10);
	ru->minflt += t->child_minflt;
	ru->majflt += t->child_majflt;
}
