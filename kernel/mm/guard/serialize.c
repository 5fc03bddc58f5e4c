/*
 * serialize: while the machine thrashes, processes run one at a time.
 *
 * Problem. Each of several processes fits into memory, and all together do not. Under global replacement
 * each process takes the pages of the others while they wait for the disk, and none makes progress.
 *
 * Idea. The least admission that helps: while there is more paging than computing, one process runs and
 * the others are held back, for a turn that is long compared with the time that it takes to read a process
 * in. The pages of the waiting processes are written once and read once per turn. HP-UX had this as
 * serialize(2), "force target process to run serially with other processes" (HP-UX 11i manual, section
 * 2), for processes that were named; here it applies to all that fault while the machine thrashes.
 *
 * A turn only helps a process that memory can hold. A process that demands more than memory faults
 * just as much when it runs alone, and the waiting processes gain nothing. So it never takes
 * a turn, and is never held back: it runs beside the turns, with the frames that they leave. For the same
 * reason turns need two processes that fit: with only one, no other process could be held back.
 *
 *	begins  in a window of window_ms the processor was idle for more than half of the time, and two
 *		processes that fit, or more, had to read pages or to wait until others' pages were written
 *	turn    one process that wants to run is chosen, the others wait. The turn ends when the process
 *		ends or sleeps of its own will, or after turn_ms, to which the time of reading in is added. A
 *		process with fewer whole turns comes first, and of equals the one that lacks the fewest pages:
 *		processes that are in memory end, and make room for the others without a write
 *	spared  the pages of the process that runs: without that a process that does not fit would take them
 *	reading if a process reads back one page after the other in its turn, all pages that it lacks are
 *		read (vm_prepage), in order of slots. A process that fills new memory reads a page now
 *		and then, too: reading back its old pages would delay it
 *	next    while a process computes, the disk works for the process that comes next: it reads all of
 *		its pages if they have room beside those of the running one, or else as many as fit into
 *		the frames that the running one leaves
 *	room    a page in, a page out, and the disk does nothing but move its arm: before pages are read,
 *		room is made for many of them at once (vm_make_room)
 *	small   a process that has touched very little, like a shell, an editor, or a parent that waits for
 *		its children, is spared and never waits: a turn of its own would cost more than its pages.
 *		It is spared before the turns, too, as soon as memory is short and two larger processes
 *		that fit compete for it: they would take all of its pages within the first window
 *	ends    fewer than two processes that fit are left; or memory holds the demand of all processes left,
 *		large ones included; or for a window no process wants a turn. For a second more, pages
 *		are read for those that took turns
 *
 * Reading ahead does not always pay. If more pages were requested than the process had, they do not fit,
 * or other processes use them, too. If slots lie far apart, or another process keeps the disk busy,
 * reading ahead is slower than faults, which wait behind it. Then the process that runs reads by
 * its own faults alone. Pages that were read for a process whose turn is over are evicted first.
 *
 * Left out: it does not see which processes belong together. A pipe from a waiting process to a running one
 * makes the reader sleep, and its turn ends. It does not measure whether a process makes progress faster
 * than without turns. And demand includes memory that was mapped and never touched: a process that maps
 * much and uses little counts as one that does not fit.
 */
#include "mm/guard.h"

#define AT_ONCE 256 /* pages that take as long to read as two movements of the disk's arm */
#define SLOW_NS 250000u /* limit per page read; a disk needs half of it in order of slots */
#define READS 3 /* faults; fewer may be for its stack and the page that it used last */
#define PAGES_A_READ 16 /* more pages than a fault reads: memory that grows faster is new */
#define BACK 50 /* ticks: a second */
#define LONGEST 4 /* limit for reading in, in units of turn_ms */

static u32 window_ms = 250, turn_ms = 2000;

static const struct vm_param serialize_params[] = {
	{ "window_ms", &window_ms, 10, 60000, "ms", "length of the window before it begins" },
	{ "turn_ms", &turn_ms, 10, 3600000, "ms", "longest turn, without reading in" },
	{ 0 },
};

/* Kept with every process. */
struct serialize_mm {
	u32 faults; /* in this window */
	u32 ran_ms; /* in its turns; a latecomer starts with the current runner's value */
	bool scattered; /* its slots are scattered: reading ahead was slow */
	bool joined; /* it faulted since turns began */
	u16 back; /* ticks in which its pages are still read, after the turns */
};
GUARD_MM_FITS(struct serialize_mm);

static bool serial; /* processes run one at a time */
static struct mm_struct *runs; /* the process whose turn it is; NULL: none wanted a turn */
static struct mm_struct *ahead; /* the process that comes next; NULL: not chosen yet */
static bool runs_read, ahead_read; /* pages have been read for it */
static u32 nr_stale; /* unowned pages that were read for processes whose turn is over */
static u32 max_small; /* upper bound on the pages that a small process has touched */
static u64 window_ns, idle_ns, tick_ns, tick_idle_ns; /* starts of both, and vm_idle() then */
static bool stalled; /* in this window a process had to reclaim the memory it needed */
static u32 nr_turns;
static u64 nr_begun;

/* State of the turn: */
static u64 turn_ns, since_ns; /* start of the turn; start of the time that counts */
static u32 nr_reads, rss; /* faults that read, since it had rss resident pages */
static u32 nr_asked; /* failed requests for room */
static u32 nr_wanted; /* pages that may still be read for it */
static u32 batch; /* pages that were requested at the last tick */
static bool left_alone; /* do not read ahead for it */

static struct serialize_mm *data(struct mm_struct *mm)
{
	return guard_mm(mm);
}

#define for_each_process(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static bool is_small(struct mm_struct *mm)
{
	return mm_touched(mm) <= max_small;
}

/* Does a turn help? It helps if memory can hold the process and others' faults would evict its
 * pages. */
static bool turn_helps(struct mm_struct *mm)
{
	return !is_small(mm) && mm_demand(mm) <= vm_frames();
}

static bool takes_part(struct mm_struct *mm)
{
	return data(mm)->joined && turn_helps(mm);
}

static bool wants_turn(struct mm_struct *mm)
{
	return takes_part(mm) && !mm_sleeps(mm);
}

static u32 lack(struct mm_struct *mm)
{
	return mm_demand(mm) - MIN(mm_demand(mm), mm_rss(mm));
}

/* The process with fewer whole turns goes before; of equals, the one that lacks fewer pages. */
static bool goes_before(struct mm_struct *a, struct mm_struct *b)
{
	u32 turns_a = data(a)->ran_ms / turn_ms, turns_b = data(b)->ran_ms / turn_ms;

	return turns_a == turns_b ? lack(a) < lack(b) : turns_a < turns_b;
}

/* Returns the process whose turn comes next, or NULL if no process wants a turn. */
static struct mm_struct *next_in_turn(void)
{
	struct mm_struct *next = NULL;

	if (ahead && wants_turn(ahead))
		return ahead;
	for_each_process(mm) if (mm != runs && wants_turn(mm) && (!next || goes_before(mm, next)))
		next = mm;
	return next;
}

static void join(struct mm_struct *mm)
{
	if (!data(mm)->joined && runs)
		data(mm)->ran_ms = data(runs)->ran_ms;
	data(mm)->joined = true;
}

/* Lets the policy evict the pages of mm (NULL: unowned pages) first. Returns their number. */
static u32 demote(struct mm_struct *mm)
{
	u32 nr = 0;

	for (struct page *page = vm_next_page(mm, NULL); page; page = vm_next_page(mm, page), nr++)
		vm_hint(page, VM_TOUCH_DONTNEED);
	return nr;
}

/* Forgets which process is next. */
static void drop_ahead(void)
{
	ahead = NULL;
	ahead_read = false;
}

static void begin_turn(struct mm_struct *mm, u64 now)
{
	runs_read = ahead_read && mm == ahead;
	drop_ahead();
	runs = mm;
	turn_ns = since_ns = now;
	nr_reads = batch = 0;
	if (!mm)
		return;
	rss = mm_rss(mm);
	nr_wanted = lack(mm);
	left_alone = data(mm)->scattered;
	nr_turns++;
	for_each_process(other) if (other != mm && takes_part(other)) demote(other);
	nr_stale = runs_read ? 0 : demote(NULL);
}

/* Ends the turn. The same process goes on if no other wants a turn. */
static void give_turn(u64 now)
{
	struct mm_struct *next = next_in_turn();

	if (!runs && !next)
		return;
	if (runs)
		data(runs)->ran_ms += (now - turn_ns) / 1000000;
	begin_turn(next || !wants_turn(runs) ? next : runs, now);
}

/* Do all processes but the small ones fit into memory together? One that is larger than memory
 * counts as well: the others still need turns beside it. */
static bool all_fit(void)
{
	u64 demand = 0;

	for_each_process(mm) demand += data(mm)->joined && !is_small(mm) ? mm_demand(mm) : 0;
	return demand <= vm_frames();
}

static bool fewer_than_two(void)
{
	u32 nr = 0;

	for_each_process(mm) nr += takes_part(mm);
	return nr < 2;
}

/* Ends the turns. The pages that the participants lack are read, if there is room. */
static void stop(void)
{
	serial = false;
	runs = NULL;
	drop_ahead();
	for_each_process(mm)
	{
		bool took_part = takes_part(mm);

		*data(mm) = (struct serialize_mm){ .back = took_part ? BACK : 0 };
	}
}

/* Returns true if pages are still read for a process after the turns. */
static bool read_after_turns(void)
{
	bool any = false;

	for_each_process(mm)
	{
		if (!data(mm)->back)
			continue;
		data(mm)->back--;
		any = true;
		if (lack(mm) && vm_free(1))
			vm_prepage(mm);
	}
	return any;
}

/* Sets the size of the largest small process: a sixteenth of memory, if all such processes fit into
 * a quarter of it, and if two or more larger ones that fit compete for the rest. */
static void find_small(void)
{
	u32 frames = vm_frames(), limit = frames / 16, nr_pages = 0, nr_others = 0;

	for_each_process(mm)
	{
		if (mm_touched(mm) <= limit)
			nr_pages += mm_touched(mm);
		else
			nr_others += mm_demand(mm) <= frames;
	}
	max_small = nr_pages <= frames / 4 && nr_others > 1 ? limit : 0;
}

/* Did the machine thrash in the window that ends now? */
static bool thrashes(u64 now)
{
	u32 faulting = 0;

	find_small();
	for_each_process(mm)
	{
		bool waits = data(mm)->faults || (stalled && !mm_sleeps(mm));

		faulting += waits && turn_helps(mm);
		if (waits)
			join(mm);
		data(mm)->faults = 0;
	}
	stalled = false;
	return faulting > 1 && 2 * (vm_idle() - idle_ns) > now - window_ns;
}

/* Is so much memory free? If not, asks for it: room is made before the reading, since the disk's
 * arm would move at each change between reading and writing. */
static bool has_room(u32 want)
{
	if (vm_free(1) >= want)
		return true;
	vm_make_room(want);
	return false;
}

/* Does the running process's memory grow by reading back, and not by new pages? */
static bool reads_back(void)
{
	if (mm_rss(runs) > rss + PAGES_A_READ * nr_reads) {
		rss = mm_rss(runs);
		nr_reads = 0;
	}
	return lack(runs) && (runs_read || nr_reads >= READS);
}

/* Stops reading ahead if the last tick's batch took longer than faults would have taken. */
static void look_at_batch(u64 now)
{
	if (runs && batch && now - tick_ns > (u64)batch * SLOW_NS)
		left_alone = data(runs)->scattered = true;
	batch = 0;
}

/* Reads some of the pages that the running process lacks. Without room, reads every fourth tick. */
static void bring_in(void)
{
	u32 want = MIN(lack(runs), MIN(AT_ONCE, vm_frames() / 8));

	if (!has_room(want) && ++nr_asked % 4)
		return;
	vm_prepage(runs);
	batch = MIN(lack(runs), vm_free(0));
	runs_read = true;
	left_alone = nr_wanted < want;
	nr_wanted -= MIN(nr_wanted, want);
}

/* Reads the next process's pages ahead, if there is room for all: it must not take frames from the
 * running one. */
static void read_ahead(void)
{
	struct mm_struct *next = next_in_turn();
	u32 spare = vm_free(2) - MIN(vm_free(2), lack(runs));

	if (next != ahead)
		drop_ahead();
	ahead = next;
	if (!ahead || ahead_read)
		return;
	if (mm_demand(runs) + mm_demand(ahead) > vm_frames()) {
		ahead_read = spare >= MIN(AT_ONCE, vm_frames() / 8);
		if (ahead_read)
			vm_prepage_some(ahead, spare);
	} else if (has_room(lack(ahead))) {
		vm_prepage(ahead);
		ahead_read = true;
	}
}

static void use_disk(u64 now)
{
	bool computes = 4 * (vm_idle() - tick_idle_ns) < now - tick_ns;

	if (reads_back()) {
		if (now - turn_ns < (u64)LONGEST * turn_ms * 1000000)
			since_ns = now;
		if (!left_alone)
			bring_in();
	}
	if (computes)
		read_ahead();
}

static void begin(u64 now)
{
	if (all_fit()) { /* they only read back pages that were evicted before */
		stop();
		return;
	}
	nr_begun++;
	serial = true;
	give_turn(now);
}

static void end_window(u64 now)
{
	if (thrashes(now) && !serial)
		begin(now);
	else if (!runs && now - turn_ns >= window_ms * 1000000ull)
		serial = false;
	window_ns = now;
	idle_ns = vm_idle();
}

static bool serialize_tick(void)
{
	u64 now = vm_now();

	if (now - window_ns >= window_ms * 1000000ull)
		end_window(now);
	look_at_batch(now);
	if (serial && (all_fit() || fewer_than_two()))
		stop();
	else if (serial && (!runs || mm_sleeps(runs) || now - since_ns > turn_ms * 1000000ull))
		give_turn(now);
	if (runs)
		use_disk(now);
	tick_ns = now;
	tick_idle_ns = vm_idle();
	return serial || read_after_turns();
}

static void serialize_fault(struct mm_struct *mm)
{
	data(mm)->faults++;
	if (serial)
		join(mm);
	nr_reads += mm == runs;
}

static void serialize_pressure(bool min)
{
	stalled |= min;
	find_small();
}

static bool serialize_may_run(struct mm_struct *mm)
{
	return !serial || mm == runs || !takes_part(mm);
}

/* Spares unowned pages, which were read ahead for the running or the next process, unless stale. */
static bool serialize_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)scan;
	if (owner && is_small(owner))
		return true;
	if (!serial)
		return false;
	if (!owner)
		return !nr_stale &&
		       (ahead_read || (runs && !left_alone && runs_read && lack(runs)));
	return owner == runs || (ahead_read && owner == ahead);
}

static void serialize_evicted(struct page *page, struct mm_struct *owner, struct page_id to)
{
	(void)page, (void)to;
	nr_stale -= !owner && nr_stale;
}

static void serialize_mm_exit(struct mm_struct *mm)
{
	data(mm)->joined = false;
	if (mm == ahead)
		drop_ahead();
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
	.summary = "while the machine thrashes, processes run one at a time",
	.tick_ms = 20,
	.params = serialize_params,
	.mm_exit = serialize_mm_exit,
	.fault = serialize_fault,
	.spare = serialize_spare,
	.evicted = serialize_evicted,
	.may_run = serialize_may_run,
	.pressure = serialize_pressure,
	.tick = serialize_tick,
	.show = serialize_show,
};
VM_GUARD(serialize);
