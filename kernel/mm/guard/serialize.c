/*
 * serialize: when the machine thrashes, processes run one at a time.
 *
 * Problem. Each of several processes fits into memory, and all together do not. Under global replacement each
 * takes the pages of the others while they wait for the disk, and nobody gets on.
 *
 * Idea. The least admission that helps: while there is more paging than computing, let one process run and
 * hold the others back, for a turn that is long compared with the time it takes to read a process in.
 * The pages of those that wait go out once and come back once for each turn. HP-UX had it as
 * serialize(2), "force target process to run serially with other processes" (HP-UX 11i manual, section
 * 2), for processes that were named; here all that fault are meant while the machine thrashes.
 *
 *	begins  in a window of window_ms the processor was idle for more than half of the time, and two
 *		processes or more had to read pages
 *	turn    one process that wants to run is chosen, the others wait: first come first served. It ends
 *		when the process ends or sleeps of its own will, or after turn_ms
 *	reading what a process lacks is read for it at the beginning of its turn (vm_prepage), in order of
 *		slots, and spared; when it has all it needs, the same for the next one
 *	ends    nobody is left to wait, or memory holds all that those who are left demand
 *
 * Left out: it does not see which processes belong together. A pipe from one that waits to one that runs
 * makes the reader sleep, and its turn ends.
 */
#include "mm/guard.h"

static u32 window_ms = 250, turn_ms = 2000;

static const struct vm_param serialize_params[] = {
	{ "window_ms", &window_ms, 10, 60000, "ms", "how long is looked at before it begins" },
	{ "turn_ms", &turn_ms, 10, 3600000, "ms", "longest turn of one process" },
	{ 0 },
};

/* Kept with every process. */
struct serialize_mm {
	u32 faults; /* in this window */
	u32 taken;  /* number of its last turn; 0: it had none */
	bool takes_part; /* it faulted since it began: only those wait */
};
GUARD_MM_FITS(struct serialize_mm);

static struct mm_struct *runs; /* whose turn it is; NULL: all may run */
static u64 since_ns, window_ns, idle_ns;
static u32 nr_turns;
static u64 nr_begun;

static struct serialize_mm *data(struct mm_struct *mm)
{
	return guard_mm(mm);
}

#define for_each_process(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

/* Of those that take part and want to run, who waits longest; NULL: nobody. */
static struct mm_struct *next_in_turn(void)
{
	struct mm_struct *first = NULL;

	for_each_process(mm) if (data(mm)->takes_part && !mm_sleeps(mm) &&
				 (!first || data(mm)->taken < data(first)->taken)) first = mm;
	return first;
}

/* The policy may take first what is not needed now. */
static void demote(struct mm_struct *mm)
{
	for (struct page *page = vm_next_page(mm, NULL); page; page = vm_next_page(mm, page))
		vm_hint(page, VM_TOUCH_DONTNEED);
}

static void give_turn(u64 now)
{
	runs = next_in_turn();
	since_ns = now;
	if (!runs)
		return;
	data(runs)->taken = ++nr_turns;
	for_each_process(mm) if (mm != runs && data(mm)->takes_part) demote(mm);
}

static bool all_fit(void)
{
	u64 demand = 0;

	for_each_process(mm) demand += data(mm)->takes_part ? mm_demand(mm) : 0;
	return demand <= vm_frames();
}

/* Who is left has room: what they lack is read in one go. */
static void stop(void)
{
	runs = NULL;
	for_each_process(mm)
	{
		if (data(mm)->takes_part)
			vm_prepage(mm);
		*data(mm) = (struct serialize_mm){ .taken = data(mm)->taken };
	}
}

/* Did it thrash in the window that ends now? */
static bool thrashes(u64 now)
{
	u32 faulting = 0;

	for_each_process(mm)
	{
		faulting += data(mm)->faults > 0;
		data(mm)->takes_part |= data(mm)->faults > 0;
		data(mm)->faults = 0;
	}
	return faulting > 1 && 2 * (vm_idle() - idle_ns) > now - window_ns;
}

/* For who runs; and while that one computes the disk works for who comes next, if there is room for both. */
static void read_ahead(void)
{
	struct mm_struct *next = next_in_turn();

	if (mm_rss(runs) < mm_demand(runs))
		vm_prepage(runs);
	else if (next && next != runs && mm_demand(runs) + mm_demand(next) <= vm_frames())
		vm_prepage(next);
}

static bool serialize_tick(void)
{
	u64 now = vm_now();

	if (now - window_ns >= window_ms * 1000000ull) {
		if (thrashes(now) && !runs && !all_fit()) {
			nr_begun++;
			give_turn(now);
		}
		window_ns = now;
		idle_ns = vm_idle();
	}
	if (runs && all_fit())
		stop();
	else if (runs && (mm_sleeps(runs) || now - since_ns > turn_ms * 1000000ull))
		give_turn(now);
	if (runs)
		read_ahead();
	return runs;
}

static void serialize_fault(struct mm_struct *mm)
{
	data(mm)->faults++;
	data(mm)->takes_part |= runs != NULL;
}

static bool serialize_may_run(struct mm_struct *mm)
{
	return !runs || mm == runs || !data(mm)->takes_part;
}

/* Its own, and what has been read ahead for it and is nobody's yet. */
static bool serialize_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)scan;
	return runs && (owner == runs || !owner);
}

static void serialize_mm_exit(struct mm_struct *mm)
{
	data(mm)->takes_part = false;
	if (mm == runs)
		give_turn(vm_now());
}

static void serialize_show(struct seq_file *m)
{
	show_u64(m, "runs", runs ? mm_pid(runs) : 0);
	show_u64(m, "begun", nr_begun);
	show_u64(m, "turns", nr_turns);
}

static const struct vm_guard serialize = {
	.name = "serialize",
	.summary = "while it thrashes, processes run one at a time",
	.tick_ms = 20,
	.params = serialize_params,
	.mm_exit = serialize_mm_exit,
	.fault = serialize_fault,
	.spare = serialize_spare,
	.may_run = serialize_may_run,
	.tick = serialize_tick,
	.show = serialize_show,
};
VM_GUARD(serialize);
