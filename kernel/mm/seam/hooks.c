/* Policy hooks that neither give nor take pages, and admission, which policy and guards decide together.
 * Hooks that do are in rules.c, those of guards in guard_hooks.c. */
#include "mm/rules.h"

#define DEFAULT_TICK_MS 100
#define MAX_TICKS 100000 /* consecutive ticks, before it is a broken rule */

static u32 nr_ticks;
static u32 asked_ms; /* requested delay until the next tick; 0: none requested */

/* For a policy that may keep a list per process but has no moved hook. */
static void remove_and_insert(struct page *page, struct mm_struct *to)
{
	policy_call_remove(page, VM_OUT_MOVED);
	page->owner = to;
	policy_call_insert(page, to, VM_IN_ADOPT, page_id_of(page));
}

void policy_call_moved(struct page *page, struct mm_struct *to)
{
	struct mm_struct *from = page->owner;
	bool owned = page_test(page, PG_owned) && from != to;

	if (owned && !vm_policy->moved && vm_policy->mm_init) {
		remove_and_insert(page, to);
		return;
	}
	page->owner = to;
	if (!owned || !vm_policy->moved)
		return;
	hook_enter(&policy_timer, "moved");
	vm_policy->moved(page, from, to);
	hook_leave(&policy_timer);
}

void policy_call_forget(struct page_id id)
{
	guard_call_forget(id);
	if (!vm_policy->forget)
		return;
	hook_enter(&policy_timer, "forget");
	vm_policy->forget(id);
	hook_leave(&policy_timer);
}

void policy_call_mm_init(struct mm_struct *mm)
{
	if (!vm_policy->mm_init)
		return;
	hook_enter(&policy_timer, "mm_init");
	vm_policy->mm_init(mm);
	hook_leave(&policy_timer);
}

void policy_call_mm_exit(struct mm_struct *mm)
{
	if (!vm_policy->mm_exit)
		return;
	hook_enter(&policy_timer, "mm_exit");
	vm_policy->mm_exit(mm);
	hook_leave(&policy_timer);
}

u32 policy_tick_ms(void)
{
	return asked_ms ?: vm_policy->tick_ms ?: DEFAULT_TICK_MS;
}

void vm_tick_after(u32 ms)
{
	asked_ms = MAX(ms, 1u);
}

u32 policy_call_surplus(struct mm_struct *mm)
{
	u32 n;

	if (!vm_policy->surplus)
		return 0;
	hook_enter(&policy_timer, "surplus");
	n = vm_policy->surplus(mm);
	hook_leave(&policy_timer);
	return n;
}

bool policy_call_may_run(struct mm_struct *mm)
{
	bool may;

	if (!vm_policy->may_run)
		return true;
	hook_enter(&policy_timer, "may_run");
	may = vm_policy->may_run(mm);
	hook_leave(&policy_timer);
	return may;
}

bool policy_call_tick(void)
{
	bool more;

	asked_ms = 0;
	if (!vm_policy->tick)
		return false;
	hook_enter(&policy_timer, "tick");
	more = vm_policy->tick();
	hook_leave(&policy_timer);
	nr_ticks = more ? nr_ticks + 1 : 0;
	if (nr_ticks < MAX_TICKS)
		return more;
	nr_ticks = 0;
	rule_broken(&policy_timer, "time", "tick", NULL, "tick always asks to be called again");
	return false;
}

void policy_call_show(struct seq_file *m)
{
	u64 before = policy_timer.cycles;

	if (!vm_policy->show)
		return;
	hook_enter(&policy_timer, "show");
	vm_policy->show(m);
	hook_leave(&policy_timer);
	policy_timer.cycles = before;
}

bool guards_hold(void)
{
	for (u32 i = 0; i < vm_nr_guards; i++)
		if (vm_guards[i] && vm_guards[i]->may_run)
			return true;
	return false;
}

bool admission_asks(void)
{
	return vm_policy->may_run || (vm_nr_guards && guards_hold());
}

bool admission_grants(struct mm_struct *mm)
{
	return policy_call_may_run(mm) && (!vm_nr_guards || guard_call_may_run(mm));
}
