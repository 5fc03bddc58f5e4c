/*
 * loadctl: load control as in 4.4BSD. While memory is short, the largest process is suspended;
 * before any other, a process that has slept for long.
 *
 * Problem. A global policy has no notion of too many processes. It evicts pages of any process, and
 * when all processes together need more memory than there is, none of them keeps the pages it
 * needs.
 *
 * Idea. Swap whole processes, as time-sharing systems did before they had paging. When memory has
 * been short for a while and the processor was idle meanwhile, one process is held back until there
 * is room again; its pages are then evicted as usual, because it no longer uses them. (M. McKusick,
 * K. Bostic, M. Karels, J. Quarterman, The Design and Implementation of the 4.4BSD Operating
 * System, 1996, section 5.12; vm/vm_glue.c: swapout_threads, scheduler.)
 *
 *	out   a process that has slept for more than long_idle_ms, the longest sleeper first; else, of the
 *	      four with the most resident pages, the one that has been in memory longest. No process is
 *	      suspended while all in memory together demand no more than the available frames, none
 *	      that came back less than stay_ms ago, and never the last one.
 *	in    when free memory and the demand of the running processes leave room for it; the process that
 *	      has been out longest is first. After out_ms it comes back even without room (BSD: its
 *	      priority grows with the time that it has been out), and another process is suspended.
 *
 * Left out: the u-area and kernel stack, which BSD swaps, too; nice values in the choice.
 */
#include "mm/guard.h"

static u32 window_ms = 250, stay_ms = 10000, out_ms = 20000, long_idle_ms = 20000;

static const struct vm_param loadctl_params[] = {
	{ "window_ms", &window_ms, 10, 60000, "ms", "length of the window before a decision" },
	{ "stay_ms", &stay_ms, 10, 600000, "ms", "minimum stay of a process that came in" },
	{ "out_ms", &out_ms, 10, 3600000, "ms", "longest suspension of a process" },
	{ "long_idle_ms", &long_idle_ms, 10, 3600000, "ms",
	  "a process asleep for longer is suspended first" },
	{ 0 },
};

/* Kept with every process. */
struct loadctl_mm {
	u64 since_ns; /* time since when it is in, or out; 0: in from the start */
	u64 awake_ns; /* when it was last seen awake */
	u32 faults; /* in this window */
	bool out;
};
GUARD_MM_FITS(struct loadctl_mm);

static u64 window_ns, idle_ns;
static bool short_of_memory; /* a watermark was crossed in this window */
static u32 nr_out;
static u64 nr_suspended, nr_resumed;

#define LARGEST 4 /* largest considered; of them the one that has been in longest is suspended */
#define for_each_process(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static struct loadctl_mm *data(struct mm_struct *mm)
{
	return guard_mm(mm);
}

static bool older_than(u64 since_ns, u32 ms)
{
	return vm_now() - since_ns > ms * 1000000ull;
}

/* Suspends the process. Its pages are those that the policy may evict first. */
static void suspend(struct mm_struct *mm)
{
	for (struct page *page = vm_next_page(mm, NULL); page; page = vm_next_page(mm, page))
		vm_hint(page, VM_TOUCH_DONTNEED);
	data(mm)->out = true;
	data(mm)->since_ns = vm_now();
	nr_out++;
	nr_suspended++;
}

static void resume(struct mm_struct *mm)
{
	data(mm)->out = false;
	data(mm)->since_ns = vm_now();
	nr_out--;
	nr_resumed++;
}

/* Returns the process that has slept longest of its own will, beyond long_idle_ms, or NULL. */
static struct mm_struct *longest_sleeper(void)
{
	struct mm_struct *found = NULL;

	for_each_process(mm) if (!data(mm)->out && mm_rss(mm) && mm_sleeps(mm) &&
				 older_than(data(mm)->awake_ns, long_idle_ms) &&
				 (!found || data(mm)->awake_ns < data(found)->awake_ns)) found = mm;
	return found;
}

/* Returns the number of processes in memory that have more resident pages. */
static u32 rank(struct mm_struct *of)
{
	u32 n = 0;

	for_each_process(mm) n += !data(mm)->out && mm_rss(mm) > mm_rss(of);
	return n;
}

static struct mm_struct *longest_out(void)
{
	struct mm_struct *found = NULL;

	for_each_process(mm) if (data(mm)->out && !mm_sleeps(mm) &&
				 (!found || data(mm)->since_ns < data(found)->since_ns)) found = mm;
	return found;
}

static bool has_stayed(struct mm_struct *mm)
{
	return !data(mm)->since_ns || older_than(data(mm)->since_ns, stay_ms);
}

/* Of the largest processes, returns the one in memory longest. NULL: all came just now, or only one
 * wants to run. */
static struct mm_struct *largest(void)
{
	struct mm_struct *found = NULL;
	u32 wanting = 0;

	for_each_process(mm)
	{
		if (data(mm)->out || mm_sleeps(mm))
			continue;
		wanting++;
		if (has_stayed(mm) && rank(mm) < LARGEST &&
		    (!found || data(mm)->since_ns < data(found)->since_ns))
			found = mm;
	}
	return wanting > 1 || longest_out() ? found : NULL;
}

static u64 demand_inside(void)
{
	u64 sum = 0;

	for_each_process(mm) sum += data(mm)->out || mm_sleeps(mm) ? 0 : mm_demand(mm);
	return sum;
}

/* Lets the next process in, if there is room, or replaces another one once it has waited for
 * out_ms. */
static void let_in(void)
{
	struct mm_struct *next = longest_out(), *victim;
	u64 inside = demand_inside();

	if (!next)
		return;
	if (inside && inside + mm_demand(next) > vm_frames()) {
		victim = older_than(data(next)->since_ns, out_ms) ? largest() : NULL;
		if (!victim)
			return;
		suspend(victim);
	}
	resume(next);
}

static void end_window(u64 now)
{
	bool idle = 2 * (vm_idle() - idle_ns) > now - window_ns;
	u32 faulting = 0;
	struct mm_struct *victim;

	for_each_process(mm)
	{
		faulting += data(mm)->faults > 0;
		data(mm)->faults = 0;
	}
	if (short_of_memory && idle && faulting > 1 && demand_inside() > vm_frames()) {
		victim = longest_sleeper() ?: largest();
		if (victim)
			suspend(victim);
	}
	short_of_memory = false;
	window_ns = now;
	idle_ns = vm_idle();
}

static bool loadctl_tick(void)
{
	u64 now = vm_now();

	for_each_process(mm)
	{
		struct loadctl_mm *d = data(mm);

		if (!mm_sleeps(mm) || !d->awake_ns)
			d->awake_ns = now;
	}
	if (now - window_ns >= window_ms * 1000000ull)
		end_window(now);
	let_in();
	return nr_out;
}

static void loadctl_pressure(bool min)
{
	(void)min;
	short_of_memory = true;
}

static void loadctl_fault(struct mm_struct *mm)
{
	data(mm)->faults++;
}

static bool loadctl_may_run(struct mm_struct *mm)
{
	return !data(mm)->out;
}

static void loadctl_mm_exit(struct mm_struct *mm)
{
	if (data(mm)->out)
		nr_out--;
}

static void loadctl_show(struct seq_file *m)
{
	show_u64(m, "out", nr_out);
	show_u64(m, "suspended", nr_suspended);
	show_u64(m, "resumed", nr_resumed);
}

static const struct vm_guard loadctl = {
	.name = "loadctl",
	.summary = "while memory is short, the largest process is suspended",
	.tick_ms = 20,
	.params = loadctl_params,
	.mm_exit = loadctl_mm_exit,
	.fault = loadctl_fault,
	.may_run = loadctl_may_run,
	.pressure = loadctl_pressure,
	.tick = loadctl_tick,
	.show = loadctl_show,
};
VM_GUARD(loadctl);
