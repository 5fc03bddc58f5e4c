/*
 * Load control by may_run alone: while the machine thrashes, the process that began last is held back; it runs again
 * when the others' demand leaves room for it, or after a while in another's place.
 */
#include "mm/guard.h"

struct token_mm {
	u64 since_ns; /* held back since then, or running since then */
	u32 faults;   /* in this window */
	bool held;
};
GUARD_MM_FITS(struct token_mm);

static u64 window_ns, idle_ns;
static u32 nr_held;

#define WINDOW_NS 250000000ull
#define TURN_NS 20000000000ull
#define for_each_process(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static struct token_mm *data(struct mm_struct *mm)
{
	return guard_mm(mm);
}

static void hold(struct mm_struct *mm, bool held)
{
	nr_held += held - data(mm)->held;
	data(mm)->held = held;
	data(mm)->since_ns = vm_now();
}

static u64 demand_of_running(void)
{
	u64 sum = 0;

	for_each_process(mm) sum += data(mm)->held || mm_sleeps(mm) ? 0 : mm_demand(mm);
	return sum;
}

/* Of the processes that are held, or that run, the one that came to it first (last: last). */
static struct mm_struct *among(bool held, bool last)
{
	struct mm_struct *found = NULL;

	for_each_process(
		mm) if (data(mm)->held == held && (held || !mm_sleeps(mm)) && mm_demand(mm) > 64 &&
			(!found || (last ? data(mm)->since_ns >= data(found)->since_ns
					 : data(mm)->since_ns < data(found)->since_ns))) found = mm;
	return found;
}

static void token_fault(struct mm_struct *mm)
{
	u64 now = vm_now();
	u32 faulting = 0;

	data(mm)->faults++;
	if (now - window_ns < WINDOW_NS)
		return;
	for_each_process(each)
	{
		faulting += data(each)->faults > 1;
		data(each)->faults = 0;
	}
	if (2 * (vm_idle() - idle_ns) > now - window_ns && faulting > 1 &&
	    demand_of_running() > vm_frames() && among(false, true))
		hold(among(false, true), true);
	window_ns = now;
	idle_ns = vm_idle();
}

static bool token_tick(void)
{
	struct mm_struct *next = among(true, false), *other = among(false, false);
	u64 running = demand_of_running();

	if (!next)
		return false;
	if (!running || running + mm_demand(next) <= vm_frames()) {
		hold(next, false);
	} else if (vm_now() - data(next)->since_ns > TURN_NS && other) {
		hold(other, true);
		hold(next, false);
	}
	return true;
}

static bool token_may_run(struct mm_struct *mm)
{
	return !data(mm)->held;
}

static void token_mm_exit(struct mm_struct *mm)
{
	nr_held -= data(mm)->held;
	data(mm)->held = false;
}

static void token_show(struct seq_file *m)
{
	show_u64(m, "held", nr_held);
}

static const struct vm_guard token = {
	.name = "token",
	.summary = "load control: processes wait while memory is too small for all",
	.mm_exit = token_mm_exit,
	.fault = token_fault,
	.may_run = token_may_run,
	.tick = token_tick,
	.show = token_show,
};
VM_GUARD(token);
