/*
 * Which guard there is (mm/guard.h): guard= at boot; and what it may ask besides what a policy may.
 *
 * `none` is no guard at all: vm_guard is NULL and nothing is called. How the hooks are called, and
 * what happens to a guard that breaks a rule: mm/seam/rules.c, mm/seam/world.c.
 */
#include "mm/guard_core.h"

#include "lib/printf.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "proc/task.h"

#define NONE "none"

static const char *choose(const char *text)
{
	vm_guard = NULL;
	if (!strcmp(text, NONE))
		return NULL;
	for (u32 i = 0; guard_at(i); i++)
		if (!strcmp(guard_at(i)->name, text))
			vm_guard = guard_at(i);
	return vm_guard ? NULL : "no such guard";
}

static void list_guards(char *buf, size_t size)
{
	strlcpy(buf, NONE, size);
	for (u32 i = 0; guard_at(i); i++) {
		strlcat(buf, "|", size);
		strlcat(buf, guard_at(i)->name, size);
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
	for (u32 i = 0; guard_at(i); i++)
		if (guard_at(i)->params)
			param_register(guard_at(i)->name, guard_at(i)->params);
}

void guard_init(void)
{
	for (u32 i = 0; guard_at(i); i++)
		guard_require_hooks(guard_at(i));
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
	guard_call_show(m);
}
