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
 *		processes or more had to read pages, or to wait until others' pages were written
 *	turn    one process that wants to run is chosen, the others wait. It ends when the process ends or
 *		sleeps of its own will, or after turn_ms. Who has had fewer whole turns comes first, and of
 *		equals who lacks the fewest pages: those who are in memory end, and make room for the others
 *		without a write
 *	reading when a process reads a page back in its turn, all that it lacks is read for it (vm_prepage), in
 *		order of slots, and spared. When it has all it needs, the same for the next one
 *	room    a page in, a page out, and the disk does nothing but move its arm: before pages are read,
 *		room is made for many of them at once (vm_make_room)
 *	ends    nobody is left to wait, or memory holds all that those who are left demand
 *
 * Left out: it does not see which processes belong together. A pipe from one that waits to one that runs
 * makes the reader sleep, and its turn ends.
 */
#include "mm/guard.h"

#define AT_ONCE 256 /* pages: reading them takes a disk as long as moving its arm twice */

static u32 window_ms = 250, turn_ms = 2000;

static const struct vm_param serialize_params[] = {
	{ "window_ms", &window_ms, 10, 60000, "ms", "how long is looked at before it begins" },
	{ "turn_ms", &turn_ms, 10, 3600000, "ms", "longest turn of one process" },
	{ 0 },
};

/* Kept with every process. */
struct serialize_mm {
	u32 faults; /* in this window */
	u32 ran_ms; /* in its turns; one that came late begins with what who ran then had had */
	bool takes_part; /* it faulted since it began: only those wait */
};
GUARD_MM_FITS(struct serialize_mm);

static struct mm_struct *runs; /* whose turn it is; NULL: all may run */
static u32 nr_asked; /* for room, one tick after the other */
static u64 since_ns, window_ns, idle_ns;
static bool reads; /* in this turn: who runs had to read a page */
static bool stalled; /* in this window: somebody had to free the memory that it needed */
static u32 nr_turns;
static u64 nr_begun;

static struct serialize_mm *data(struct mm_struct *mm)
{
	return guard_mm(mm);
}

#define for_each_process(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static bool wants_turn(struct mm_struct *mm)
{
	return data(mm)->takes_part && !mm_sleeps(mm);
}

static u32 lack(struct mm_struct *mm)
{
	return mm_demand(mm) - MIN(mm_demand(mm), mm_rss(mm));
}

/* Who has had fewer whole turns; of equals, who lacks less. */
static bool goes_before(struct mm_struct *a, struct mm_struct *b)
{
	u32 turns_a = data(a)->ran_ms / turn_ms, turns_b = data(b)->ran_ms / turn_ms;

	return turns_a == turns_b ? lack(a) < lack(b) : turns_a < turns_b;
}

/* Whose turn comes after the one of who runs; NULL: nobody's. */
static struct mm_struct *next_in_turn(void)
{
	struct mm_struct *next = NULL;

	for_each_process(mm) if (mm != runs && wants_turn(mm) && (!next || goes_before(mm, next)))
		next = mm;
	return next;
}

static void join(struct mm_struct *mm)
{
	if (!data(mm)->takes_part && runs)
		data(mm)->ran_ms = data(runs)->ran_ms;
	data(mm)->takes_part = true;
}

/* The policy may take first what is not needed now. */
static void demote(struct mm_struct *mm)
{
	for (struct page *page = vm_next_page(mm, NULL); page; page = vm_next_page(mm, page))
		vm_hint(page, VM_TOUCH_DONTNEED);
}

static void give_turn(u64 now)
{
	struct mm_struct *next = next_in_turn();

	if (runs)
		data(runs)->ran_ms += (now - since_ns) / 1000000;
	if (next || (runs && !wants_turn(runs)))
		runs = next;
	since_ns = now;
	reads = false;
	if (!runs)
		return;
	nr_turns++;
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
		*data(mm) = (struct serialize_mm){ 0 };
	}
}

/* Did it thrash in the window that ends now? */
static bool thrashes(u64 now)
{
	u32 faulting = 0;

	for_each_process(mm)
	{
		bool waits = data(mm)->faults || (stalled && !mm_sleeps(mm));

		faulting += waits;
		if (waits)
			join(mm);
		data(mm)->faults = 0;
	}
	stalled = false;
	return faulting > 1 && 2 * (vm_idle() - idle_ns) > now - window_ns;
}

/* Reads what mm lacks. Reading and writing by turns moves the disk's arm each time: so room is made first,
 * for many pages at once; but where none can be had, every fourth tick what fits is read. */
static void bring_in(struct mm_struct *mm)
{
	u32 want = MIN(lack(mm), MIN(AT_ONCE, vm_frames() / 8));

	nr_asked = vm_free(1) < want ? nr_asked + 1 : 0;
	if (nr_asked % 4)
		vm_make_room(want);
	else
		vm_prepage(mm);
}

/* For who runs; and while that one computes the disk works for who comes next, if there is room for both. */
static void read_ahead(void)
{
	struct mm_struct *next = next_in_turn();

	if (lack(runs) && reads)
		bring_in(runs);
	else if (next && mm_demand(runs) + mm_demand(next) <= vm_frames())
		bring_in(next);
}

static void begin(u64 now)
{
	if (all_fit()) { /* it only reads back what had to go before */
		stop();
		return;
	}
	nr_begun++;
	give_turn(now);
}

static bool serialize_tick(void)
{
	u64 now = vm_now();

	if (now - window_ns >= window_ms * 1000000ull) {
		if (thrashes(now) && !runs)
			begin(now);
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
	if (runs)
		join(mm);
	reads |= mm == runs;
}

static void serialize_pressure(bool min)
{
	stalled |= min;
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
	.pressure = serialize_pressure,
	.tick = serialize_tick,
	.show = serialize_show,
};
VM_GUARD(serialize);
