/*
 * tpf: the thrashing protection facility. While the machine thrashes, one process gives up almost
 * no pages, until it no longer faults.
 *
 * Problem. Several processes need more memory than there is. While one waits for a page, the
 * others' faults evict its resident pages, because they were not used recently, and so all of them
 * wait. Global replacement has no reason to prefer one of them.
 *
 * Idea. Protect early, one process, and only for a short time: just until it has its working set.
 * Then it runs, and soon ends. No process is stopped. (S. Jiang, X. Zhang, TPF: a dynamic system
 * thrashing protection facility, Software: Practice and Experience 32(3), 2002; the names of the
 * parameters, their values and the states are theirs, sections 4 and 5.1.)
 *
 *	           two or more fault often            processor busy < cpu_low
 *	  normal --------------------------> monitoring --------------------------> protection
 *	     ^                                |      ^                                 |
 *	     +--------------------------------+      +---------------------------------+
 *	           fewer than two fault often          the protected one faults less than
 *	                                               pf_low, or has ended; busy > cpu_high
 *
 *	faults often  more than pf_high faults in a second: the process is on the list of
 *	              high_PF_proc (the paper's name) until it has fewer than pf_low in a window
 *	choice        of those on the list, the process with the smallest lack: demand minus resident
 *	protection    that process gives up at most one page each time all pages are looked at
 *
 * Detection runs at the end of each window, a second as in the paper; only faults that must read
 * count.
 *
 * Differences from the paper. The paper changes swap_out of Linux 2.2, which goes through the
 * processes one after the other: one page per loop over all of them. Here policies have lists of
 * pages, and a loop is as many calls of spare as there are frames. A tick notices the end of the
 * window, and an idle machine gets ticks late: rates use the time that has really passed.
 *
 * When it does not help. pf_high is a rate. If a disk reads 80 pages a second, each of ten
 * processes gets eight, so no process faults often: the more processes there are, the less is
 * detected. `too_few` counts the windows in which the processor was idle and fewer than two
 * processes were on the list. With tpf.pf_high=3 they are detected, and tpf does as well as
 * `token`. And a turn has no limit: a process that needs more than all of memory faults forever and
 * stays protected, as the paper says in 5.2; then load control must help.
 */
#include "mm/guard.h"

#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull

static u32 cpu_low = 40, cpu_high = 80, pf_high = 10, pf_low = 1, window_ms = 1000;

static const struct vm_param tpf_params[] = {
	{ "cpu_low", &cpu_low, 0, 100, "%", "processor busy for less: a process is protected" },
	{ "cpu_high", &cpu_high, 0, 100, "%", "processor busy for more: protection ends" },
	{ "pf_high", &pf_high, 0, 10000, "faults/s", "a process above this rate faults often" },
	{ "pf_low", &pf_low, 0, 10000, "faults/s",
	  "a process below this rate no longer faults often" },
	{ "window_ms", &window_ms, 10, 60000, "ms", "length of the window" },
	{ 0 },
};

/* Kept with every process. */
struct tpf_mm {
	u64 start_ns; /* start of the count of faults */
	u32 num_pf;   /* faults since then */
	bool high;    /* on the list of processes that fault often */
};
GUARD_MM_FITS(struct tpf_mm);

static enum { NORMAL, MONITORING, PROTECTION } state;
static struct mm_struct *privileged; /* NULL: no process is protected */
static u32 nr_high;                  /* length of the list */
static u64 window_ns, idle_ns;       /* when the window began; the machine's idle time then */
static u32 busy = 100;               /* %, in the last window */
static u32 round_size, nr_asked;     /* calls of spare in a round; in this round so far */
static bool has_given;               /* the protected process gave up its page of this round */
static u64 nr_protections, nr_spared, nr_given, nr_too_few;

static struct tpf_mm *data(struct mm_struct *mm)
{
	return guard_mm(mm);
}

static u32 lacking(struct mm_struct *mm)
{
	u32 demand = mm_demand(mm), rss = mm_rss(mm);

	return demand > rss ? demand - rss : 0;
}

static void begin_window(u64 now)
{
	window_ns = now;
	idle_ns = vm_idle();
}

static void count_anew(struct tpf_mm *d, u64 now)
{
	d->num_pf = 0;
	d->start_ns = now;
}

static void leave_list(struct mm_struct *mm)
{
	nr_high -= data(mm)->high;
	data(mm)->high = false;
}

/* The detection routine, at each fault: puts processes that fault often on the list. */
static void tpf_fault(struct mm_struct *mm)
{
	struct tpf_mm *d = data(mm);
	u64 now = vm_now();

	if (!d->num_pf && !d->high)
		d->start_ns = now;
	if (++d->num_pf <= pf_high)
		return;
	if (!d->high && now - d->start_ns <= NS_PER_S) {
		d->high = true;
		nr_high++;
		if (state == NORMAL && nr_high > 1) {
			state = MONITORING;
			begin_window(now);
		}
	}
	count_anew(d, now);
}

/* Removes processes with few recent faults from the list. */
static void look_through_list(u64 now)
{
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm)) {
		struct tpf_mm *d = data(mm);
		u64 passed = now - d->start_ns;

		if (!d->high || passed < window_ms * NS_PER_MS)
			continue;
		if (d->num_pf * NS_PER_S < pf_low * passed)
			leave_list(mm);
		count_anew(d, now);
	}
}

static struct mm_struct *least_hungry(void)
{
	struct mm_struct *best = NULL;

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		if (data(mm)->high && (!best || lacking(mm) < lacking(best)))
			best = mm;
	return best;
}

static void protect(struct mm_struct *mm)
{
	privileged = mm;
	state = PROTECTION;
	round_size = vm_frames();
	nr_asked = 0;
	has_given = false;
	nr_protections++;
}

static void end_protection(void)
{
	privileged = NULL;
	state = MONITORING;
}

/* The detection routine, at the end of a window. */
static void end_window(u64 now)
{
	busy = 100 - (vm_idle() - idle_ns) * 100 / (now - window_ns);
	look_through_list(now);
	nr_too_few += busy < cpu_low && nr_high < 2;
	if (state == PROTECTION && (!data(privileged)->high || busy > cpu_high))
		end_protection();
	if (state == MONITORING && nr_high < 2)
		state = NORMAL;
	else if (state == MONITORING && busy < cpu_low)
		protect(least_hungry());
	begin_window(now);
}

static bool tpf_tick(void)
{
	u64 now = vm_now();

	if (now - window_ns >= window_ms * NS_PER_MS)
		end_window(now);
	return false;
}

/* The protection routine. */
static bool tpf_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)scan;
	if (!privileged)
		return false;
	if (nr_asked++ >= round_size) {
		nr_asked = 1;
		has_given = false;
	}
	if (owner != privileged)
		return false;
	if (!has_given) {
		has_given = true;
		nr_given++;
		return false;
	}
	nr_spared++;
	return true;
}

static void tpf_mm_exit(struct mm_struct *mm)
{
	leave_list(mm);
	if (mm == privileged)
		end_protection();
}

static void tpf_show(struct seq_file *m)
{
	show_u64(m, "state", state);
	show_u64(m, "protected", privileged ? mm_pid(privileged) : 0);
	show_u64(m, "high_pf", nr_high);
	show_u64(m, "busy", busy);
	show_u64(m, "protections", nr_protections);
	show_u64(m, "spared", nr_spared);
	show_u64(m, "given", nr_given);
	show_u64(m, "too_few", nr_too_few);
}

static const struct vm_guard tpf = {
	.name = "tpf",
	.summary =
		"while the machine thrashes, one process keeps its pages until it stops faulting",
	.tick_ms = 20,
	.params = tpf_params,
	.mm_exit = tpf_mm_exit,
	.fault = tpf_fault,
	.spare = tpf_spare,
	.tick = tpf_tick,
	.show = tpf_show,
};
VM_GUARD(tpf);
