/*
 * The hooks of guards (mm/guard.h), each called for all chosen guards, and what a guard may do to
 * pages. The spare hook is in rules.c, with vm_eligible, of which it is a part.
 *
 * A guard that breaks a rule in a hook is switched off at once: its entry in vm_guards is NULL afterwards.
 */
#include "mm/rules.h"

#define DEFAULT_TICK_MS 100

static u64 due_ns[MAX_GUARDS]; /* when each guard's next tick is due */
static bool when_idle[MAX_GUARDS]; /* the tick must come even while the machine is idle */

/* Returns the first guard at index *i or later and makes it the one whose hook runs
 * (vm_guard_asked). Sets *i to the next index. Returns NULL if there are no more guards. */
static const struct vm_guard *next_guard(u32 *i)
{
	while (*i < vm_nr_guards && !vm_guards[*i])
		++*i;
	if (*i == vm_nr_guards)
		return NULL;
	vm_guard_asked = *i;
	return vm_guards[(*i)++];
}

/* Calls this hook of every guard that defines it. */
#define call_all(hook, ...)                                                                        \
	for (u32 i = 0; next_guard(&i);)                                                           \
		if (vm_guards[vm_guard_asked]->hook) {                                             \
			hook_enter(&guard_timer, #hook);                                           \
			vm_guards[vm_guard_asked]->hook(__VA_ARGS__);                              \
			hook_leave(&guard_timer);                                                  \
		}

void guard_call_mm_exit(struct mm_struct *mm)
{
	call_all(mm_exit, mm);
}

void guard_call_fault(struct mm_struct *mm)
{
	call_all(fault, mm);
}

bool guard_call_may_run(struct mm_struct *mm)
{
	const struct vm_guard *g;
	bool may = true;

	for (u32 i = 0; may && (g = next_guard(&i));) {
		if (!g->may_run)
			continue;
		hook_enter(&guard_timer, "may_run");
		may = g->may_run(mm);
		hook_leave(&guard_timer);
	}
	return may;
}

void guard_call_pressure(bool min)
{
	call_all(pressure, min);
}

void guard_call_evicted(struct page *page, struct mm_struct *owner, struct page_id to)
{
	call_all(evicted, page, owner, to);
}

void guard_call_forget(struct page_id id)
{
	call_all(forget, id);
}

u64 guard_call_ticks(u64 now, bool *idle)
{
	const struct vm_guard *g;
	u64 next = 0;

	*idle = false;
	for (u32 i = 0; (g = next_guard(&i));) {
		u32 at = i - 1;

		if (!g->tick)
			continue;
		if (due_ns[at] <= now) {
			hook_enter(&guard_timer, "tick");
			when_idle[at] = g->tick();
			hook_leave(&guard_timer);
			due_ns[at] = now + (g->tick_ms ?: DEFAULT_TICK_MS) * 1000000ull;
		}
		*idle |= when_idle[at];
		next = next ? MIN(next, due_ns[at]) : due_ns[at];
	}
	return next;
}

void guard_call_show(struct seq_file *m)
{
	u64 before = guard_timer.cycles;
	call_all(show, m);
	guard_timer.cycles = before;
}

/* What a guard may do. */

struct page *vm_next_page(struct mm_struct *mm, struct page *page)
{
	for (u32 pfn = page ? page - mem_map + 1 : 0; pfn < max_pfn; pfn++)
		if (page_test(pfn_page(pfn), PG_owned) && pfn_page(pfn)->owner == mm)
			return pfn_page(pfn);
	return NULL;
}

/* May a hint about this page be given now? */
static bool takes_hints(const struct page *page)
{
	return !policy_timer.running && page_test(page, PG_owned);
}

void vm_hint(struct page *page, enum vm_touch touch)
{
	u64 before = policy_timer.cycles;

	if (!takes_hints(page))
		return;
	policy_call_touch(page, page->owner, touch);
	guard_timer.since += policy_timer.cycles - before; /* this was not the guard's time */
}

bool vm_demote(struct page *page, enum vm_demote how)
{
	u64 before = policy_timer.cycles;

	if (!vm_policy->demote)
		return false;
	if (takes_hints(page)) {
		hook_enter(&policy_timer, "demote");
		vm_policy->demote(page, how);
		hook_leave(&policy_timer);
		guard_timer.since += policy_timer.cycles - before;
	}
	return true;
}
