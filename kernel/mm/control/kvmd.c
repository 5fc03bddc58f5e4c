/*
 * kvmd: the thread that calls the ticks of the policy and the guards, trims surplus pages, reads
 * pages that they want to prefetch, and asks again which processes may run.
 *
 * Ticks come while any task runs. An idle machine is woken for a tick only if a process is held
 * back or if a guard's tick has requested it.
 */
#include "mm/control.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/swap.h"
#include "sched/task.h"
#include "sched/timer.h"
#include "sched/wait.h"

#define MAX_PREFETCHES 32 /* per tick */
#define MAX_PREPAGED 8

static WAIT_QUEUE(kvmd_wait);
static bool policy_due, guards_due; /* irq */
static struct timer policy_tick, guard_tick;
static u32 prefetches[MAX_PREFETCHES]; /* slots */
static u32 nr_prefetches;
static struct {
	u32 mm, most; /* id of the address space; pages */
} prepaged[MAX_PREPAGED];
static u32 nr_prepaged;

static void policy_fire(struct timer *t)
{
	(void)t;
	policy_due = true;
	wake_up(&kvmd_wait);
}

static void guards_fire(struct timer *t)
{
	(void)t;
	guards_due = true;
	wake_up(&kvmd_wait);
}

void kvmd_must_tick(void)
{
	u64 at = vm_now() + policy_tick_ms() * 1000000ull;

	if (policy_tick.armed) /* repeated refusals must not postpone the tick */
		at = MIN(at, policy_tick.expires_ns);
	timer_stop(&policy_tick);
	policy_tick.deferrable = !admission_nr_waiting();
	timer_start(&policy_tick, at);
}

static void trim_all(void)
{
	struct mm_struct *mm;
	u32 id = 0;

	/* Trimming may sleep and processes may end meanwhile, so continue by id. */
	while (vm_policy->surplus && (mm = mm_after(id))) {
		u32 n = policy_call_surplus(mm);

		id = mm->id;
		if (n)
			reclaim_trim(mm, n);
	}
}

bool vm_prefetch(struct page_id id)
{
	if (nr_prefetches == MAX_PREFETCHES)
		return false;
	if (id.store == SWAP_STORE)
		prefetches[nr_prefetches++] = id.index;
	return true;
}

void vm_prepage(struct mm_struct *mm)
{
	vm_prepage_some(mm, ~0u);
}

void vm_prepage_some(struct mm_struct *mm, u32 nr)
{
	if (nr_prepaged == MAX_PREPAGED)
		return;
	prepaged[nr_prepaged].mm = mm->id;
	prepaged[nr_prepaged++].most = nr;
}

/* Reads the pages that the previous hooks requested. */
static void read_ahead(void)
{
	u32 nr = nr_prefetches;

	nr_prefetches = 0;
	current->flags &= ~TF_RECLAIM;
	for (u32 i = 0; i < nr; i++)
		swap_prefetch(prefetches[i], page_cluster);
	current->flags |= TF_RECLAIM;
	for (u32 i = 0; i < nr_prepaged; i++) {
		struct mm_struct *mm = mm_after(prepaged[i].mm - 1);

		if (mm && mm->id == prepaged[i].mm) /* the process still exists */
			swap_prepage(mm, prepaged[i].most);
	}
	nr_prepaged = 0;
}

static void tick_guards(void)
{
	bool idle = false;
	u64 next = guard_call_ticks(vm_now(), &idle);

	read_ahead();
	guard_tick.deferrable = !idle;
	if (next)
		timer_start(&guard_tick, next);
}

static void tick_policy(void)
{
	while (policy_call_tick())
		cond_resched();
	read_ahead();
	trim_all();
}

static void kvmd(void *arg)
{
	(void)arg;
	current->flags |= TF_RECLAIM;
	kvmd_must_tick();
	tick_guards();
	for (;;) {
		bool policys;

		wait_event_interruptible(&kvmd_wait, policy_due || guards_due);
		policys = policy_due;
		policy_due = false;
		if (guards_due) {
			guards_due = false;
			tick_guards();
		}
		if (policys)
			tick_policy();
		admission_recheck();
		if (policys)
			kvmd_must_tick();
	}
}

void kvmd_init(void)
{
	timer_setup(&policy_tick, policy_fire, true);
	timer_setup(&guard_tick, guards_fire, true);
	kthread_create("kvmd", -20, kvmd, NULL);
}
