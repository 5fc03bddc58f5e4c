/*
 * The core's side of the guard seam (mm/guard.h): guard= at boot, hooks, time.
 *
 * `none` is no guard at all: vm_guard is NULL and nothing is called.
 *
 * A guard is untrusted code, as a policy is. Its time is not the policy's, though spare runs inside
 * select. A hook that takes too long switches the guard off; one that does not return, or is called
 * from inside another (because it slept, or called vm_eligible), stops the machine.
 */
#include "mm/guard_core.h"

#include "arch/time.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "proc/task.h"
#include "observe/telemetry.h"

#define NONE "none"
#define HOOK_LIMIT_NS 200000000u /* reported when it returns */
#define HOOK_HUNG_NS 1000000000u /* stopped by the tick */

extern const struct vm_guard *const __guards_start[], *const __guards_end[];

#define for_each_guard(g)                                                                          \
	for (const struct vm_guard *const *g = __guards_start; g < __guards_end; g++)

const struct vm_guard *vm_guard;
u64 guard_cycles;

static const char *hook; /* the one that is running */
static u64 hook_since;

static const char *choose(const char *text)
{
	vm_guard = NULL;
	if (!strcmp(text, NONE))
		return NULL;
	for_each_guard(g) if (!strcmp((*g)->name, text)) vm_guard = *g;
	return vm_guard ? NULL : "no such guard";
}

static void list_guards(char *buf, size_t size)
{
	strlcpy(buf, NONE, size);
	for_each_guard(g)
	{
		strlcat(buf, "|", size);
		strlcat(buf, (*g)->name, size);
	}
}

const char *guard_name(void)
{
	return vm_guard ? vm_guard->name : NONE;
}

static void show_guard(char *buf, size_t size)
{
	strlcpy(buf, guard_name(), size);
}

PARAM_ENUM("guard", choose, list_guards, show_guard, "thrashing protection laid over the policy",
	   AT_BOOT);

static void hook_enter(const char *name)
{
	if (unlikely(hook))
		panic("guard %s: hook %s called inside hook %s", vm_guard->name, name, hook);
	hook_since = cycles_now();
	hook = name;
}

static void switch_off(const char *name, u64 ns)
{
	printk("guard violation: guard=%s rule=time: hook %s took %llu us, the limit is %u\n"
	       "guard %s is switched off\n",
	       vm_guard->name, name, ns / 1000, HOOK_LIMIT_NS / 1000, vm_guard->name);
	telemetry_event("violation",
			"\"guard\":\"%s\",\"rule\":\"time\",\"what\":\"hook %s took %llu us\"",
			vm_guard->name, name, ns / 1000);
	vm_guard = NULL;
}

/* Returns the cycles that the hook took. */
static u64 hook_leave(void)
{
	u64 cycles = cycles_now() - hook_since;
	const char *name = hook;

	hook = NULL;
	guard_cycles += cycles;
	if (unlikely(cycles_to_ns(cycles) > HOOK_LIMIT_NS))
		switch_off(name, cycles_to_ns(cycles));
	return cycles;
}

void guard_watch_hook(void)
{
	if (hook && cycles_to_ns(cycles_now() - hook_since) > HOOK_HUNG_NS)
		panic("guard violation: guard=%s rule=time: hook %s has not returned for 1 s",
		      vm_guard->name, hook);
}

void guard_report_hook(void)
{
	if (hook)
		printk("guard: %s, in its hook %s\n", vm_guard->name, hook);
}

void guard_call_mm_exit(struct mm_struct *mm)
{
	if (!vm_guard || !vm_guard->mm_exit)
		return;
	hook_enter("mm_exit");
	vm_guard->mm_exit(mm);
	hook_leave();
}

void guard_call_fault(struct mm_struct *mm)
{
	if (!vm_guard || !vm_guard->fault)
		return;
	hook_enter("fault");
	vm_guard->fault(mm);
	hook_leave();
}

bool guard_call_spare(const struct vm_scan *scan, const struct page *page)
{
	bool spares;

	if (!scan->priority || scan->trim)
		return false;
	hook_enter("spare");
	spares = vm_guard->spare((struct page *)page, page->owner, scan);
	policy_not_its_time(hook_leave());
	return spares;
}

u32 mm_demand(struct mm_struct *mm)
{
	return mm->count.demand;
}

u32 mm_pid(struct mm_struct *mm)
{
	return mm->task ? mm->task->pid : 0;
}

u64 vm_idle(void)
{
	return sched_idle_ns();
}

void *guard_mm(struct mm_struct *mm)
{
	return mm->guard;
}

void guard_register_params(void)
{
	for_each_guard(g) if ((*g)->params) param_register((*g)->name, (*g)->params);
}

void guard_init(void)
{
	for_each_guard(g) if (!(*g)->spare) panic("guard %s lacks spare", (*g)->name);
	if (vm_guard)
		printk("guard: %s, %s\n", vm_guard->name, vm_guard->summary);
}

void guard_show(struct seq_file *m)
{
	seq_printf(m, "guard: %s\n", guard_name());
	if (!vm_guard)
		return;
	seq_printf(m, "summary: %s\n", vm_guard->summary);
	for (const struct vm_param *p = vm_guard->params; p && p->name; p++)
		seq_printf(m, "%s: %u%s%s\n", p->name, *p->value, p->unit ? " " : "",
			   p->unit ?: "");
	if (vm_guard->show)
		vm_guard->show(m);
}
