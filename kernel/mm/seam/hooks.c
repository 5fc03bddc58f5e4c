/* The hooks of policies that give or take no page; those that do: rules.c. Guards: guard_hooks.c. */
#include "mm/rules.h"

#define DEFAULT_TICK_MS 100
#define MAX_TICKS 100000 /* one after the other */

static u32 nr_ticks;

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
	return vm_policy->tick_ms ?: DEFAULT_TICK_MS;
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
