/*
 * The token: when the machine thrashes, one process keeps its pages until it has made progress.
 *
 * Problem. Several processes need more memory than there is. Each waits for the disk, and while it
 * waits the others' faults evict its pages, so it waits again. Global replacement treats all alike,
 * and so no process ever has the pages it needs: the processor is idle though all could run (P.
 * Denning, Thrashing: its causes and prevention, AFIPS FJCC 1968).
 *
 * Idea. Be unfair for a while. One process gets a token, and the pages of the holder are spared. It
 * collects the pages it needs, runs at full speed, and ends, which frees its memory for the others.
 *
 * Detection and choice are taken from TPF (S. Jiang, X. Zhang, TPF: a dynamic system thrashing
 * protection facility, Software: Practice and Experience 32(3), 2002). The long turn is taken from
 * the same authors' swap token (Token-ordered LRU, Performance Evaluation 60, 2005):
 *
 *   detection  at the first fault after a window (a quarter of a second; the paper's second is
 *              expensive here, where most runs are over in ten seconds). In it the processor was idle
 *              for more than half of the time, and two processes or more faulted repeatedly.
 *   choice     of those, the process with the smallest lack, demand minus resident pages: it is done
 *              soonest. Not the last holder, and none whose demand is much larger than memory:
 *              it would starve the others and never have enough.
 *   end        the holder ends; it sleeps for another reason than a page; the processor is busy again;
 *              or its turn is over, so that no process waits forever.
 *
 * "Repeatedly" means twice in a window, not a rate as in the paper: a slow disk with a long queue
 * serves each of many processes only a few times a second. No timer is needed: a machine that
 * thrashes has faults.
 *
 * The swap token's time-out is turn_ms. Linux 2.6.9 (mm/thrash.c) lets a process keep it for 300 s,
 * and so does token.turn_ms=300000. Here it is a minute: the work is smaller, and others wait.
 *
 * Left out: a page shared by several processes belongs to the one that faulted it in last. Pages
 * read ahead for the holder are unowned until they are used. The others are not stopped, so their
 * requests may still be before the holder's in the disk's queue.
 */
#include "mm/guard.h"

/* lab: params */
static u32 window_ms = 250, nr_faults = 2, cpu_low = 50, cpu_high = 80;
static u32 turn_ms = 60000, share = 125;

static const struct vm_param token_params[] = {
	{ "window_ms", &window_ms, 10, 60000, "ms",
	  "length of the window before the next decision" },
	{ "faults", &nr_faults, 1, 10000, NULL, "in a window: the process faults repeatedly" },
	{ "cpu_low", &cpu_low, 0, 100, "%", "processor busy for less: the machine thrashes" },
	{ "cpu_high", &cpu_high, 0, 100, "%", "processor busy for more: no token is needed" },
	{ "turn_ms", &turn_ms, 1, 3600000, "ms", "longest turn" },
	{ "share", &share, 1, 1000, "%",
	  "of all frames: a process that demands more gets no token" },
	{ 0 },
};
/* lab: end */

/* Kept with every process, all zero at first: guard_mm(mm) is its place. */
struct token_mm {
	u32 faults; /* in this window */
};
GUARD_MM_FITS(struct token_mm);

static struct mm_struct *holder; /* NULL: no process has the token */

/* lab: fault */
static u64 since_ns;           /* when the holder got it */
static u64 window_ns, idle_ns; /* when the window began; the machine's idle time then */
static u32 busy = 100;         /* %, in the last window */
static u64 nr_given, nr_spared;

static u32 *faults_of(struct mm_struct *mm)
{
	return &((struct token_mm *)guard_mm(mm))->faults;
}

static u32 lacking(struct mm_struct *mm)
{
	u32 demand = mm_demand(mm), rss = mm_rss(mm);

	return demand > rss ? demand - rss : 0;
}

static bool turn_over(u64 now)
{
	return busy > cpu_high || mm_sleeps(holder) || now - since_ns > turn_ms * 1000000ull;
}

/* Returns the process with the smallest lack of those that faulted repeatedly, but not `last` and
 * none too large; NULL: there is none, or fewer than two faulted. Resets the counts. */
static struct mm_struct *choose(const struct mm_struct *last)
{
	struct mm_struct *best = NULL;
	u32 faulting = 0;

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm)) {
		bool repeatedly = *faults_of(mm) >= nr_faults;

		*faults_of(mm) = 0;
		if (!repeatedly)
			continue;
		faulting++;
		if (mm == last || mm_demand(mm) > (u64)vm_frames() * share / 100)
			continue;
		if (!best || lacking(mm) < lacking(best))
			best = mm;
	}
	return faulting > 1 ? best : NULL;
}

static void end_window(u64 now)
{
	struct mm_struct *last = holder, *next;

	busy = 100 - (vm_idle() - idle_ns) * 100 / (now - window_ns);
	if (holder && turn_over(now))
		holder = NULL;
	next = choose(last);
	if (!holder && next && busy < cpu_low) {
		holder = next;
		since_ns = now;
		nr_given++;
	}
	window_ns = now;
	idle_ns = vm_idle();
}

static void token_fault(struct mm_struct *mm)
{
	u64 now = vm_now();

	++*faults_of(mm);
	if (now - window_ns >= window_ms * 1000000ull)
		end_window(now);
}
/* lab: end */

static void token_mm_exit(struct mm_struct *mm)
{
	if (mm == holder)
		holder = NULL;
}

/* lab: spare */
static bool token_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)scan;
	if (!holder || owner != holder)
		return false;
	nr_spared++;
	return true;
}

static void token_show(struct seq_file *m)
{
	show_u64(m, "holder", holder ? mm_pid(holder) : 0);
	show_u64(m, "busy", busy);
	show_u64(m, "given", nr_given);
	show_u64(m, "spared", nr_spared);
}
/* lab: end */

static const struct vm_guard token = {
	.name = "token",
	/* lab: ops */
	.summary = "while the machine thrashes, one process at a time keeps its pages",
	.params = token_params,
	/* lab: end */
	.mm_exit = token_mm_exit,
	.fault = token_fault,
	.spare = token_spare,
	.show = token_show,
};
VM_GUARD(token);
