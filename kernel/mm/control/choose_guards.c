/*
 * Choosing guards (mm/guard.h): guard= at boot, several separated by commas; and the functions that
 * a guard may call in addition to those of policies.
 *
 * `none` means that there is no guard and no hook is called. mm/seam/guard_hooks.c calls the hooks;
 * mm/control/violation.c switches off a guard that breaks a rule.
 */
#include "mm/guard_core.h"

#include "lib/printf.h"
#include "lib/string.h"
#include "mm/control.h"
#include "mm/mm.h"
#include "mm/reclaim.h"
#include "mm/zone.h"
#include "sched/current.h"
#include "sched/sched.h"

#define NONE "none"

static char names[100]; /* of the active guards */

static const struct vm_guard *find(const char *name, size_t length)
{
	for (u32 i = 0; guard_at(i); i++)
		if (strlen(guard_at(i)->name) == length &&
		    !strncmp(guard_at(i)->name, name, length))
			return guard_at(i);
	return NULL;
}

static bool is_chosen(const struct vm_guard *guard)
{
	for (u32 i = 0; i < vm_nr_guards; i++)
		if (vm_guards[i] == guard)
			return true;
	return false;
}

static const char *choose(const char *text)
{
	vm_nr_guards = 0;
	if (!strcmp(text, NONE))
		return NULL;
	for (const char *end = ","; *end; text = end + 1) {
		const struct vm_guard *guard;

		end = strchr(text, ',') ?: text + strlen(text);
		guard = find(text, end - text);
		if (!guard)
			return "no such guard";
		if (is_chosen(guard))
			return "a guard is named twice";
		if (vm_nr_guards == MAX_GUARDS)
			return "too many guards";
		vm_guards[vm_nr_guards++] = guard;
	}
	return NULL;
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
	names[0] = '\0';
	for (u32 i = 0; i < vm_nr_guards; i++) {
		if (!vm_guards[i])
			continue;
		strlcat(names, names[0] ? "," : "", sizeof(names));
		strlcat(names, vm_guards[i]->name, sizeof(names));
	}
	return names[0] ? names : NONE;
}

static void show_guard(char *buf, size_t size)
{
	strlcpy(buf, guard_name(), size);
}

PARAM_ENUM("guard", choose, list_guards, show_guard, "thrashing protection laid over the policy",
	   AT_BOOT);

void vm_make_room(u32 nr)
{
	kswapd_make_room(nr);
}

void *guard_mm(struct mm_struct *mm)
{
	return mm->guard[vm_guard_asked];
}

void guard_register_params(void)
{
	for (u32 i = 0; guard_at(i); i++)
		if (guard_at(i)->params)
			param_register(guard_at(i)->name, guard_at(i)->params);
}

static void start(u32 i)
{
	int err = vm_guards[i]->init ? vm_guards[i]->init() : 0;

	if (!err) {
		printk("guard: %s, %s\n", vm_guards[i]->name, vm_guards[i]->summary);
		return;
	}
	printk("guard: %s cannot begin (error %d)\n", vm_guards[i]->name, -err);
	vm_guards[i] = NULL;
}

void guard_init(void)
{
	for (u32 i = 0; guard_at(i); i++)
		guard_require_hooks(guard_at(i));
	for (u32 i = 0; i < vm_nr_guards; i++)
		start(i);
}

void guard_show(struct seq_file *m)
{
	seq_printf(m, "guard: %s\n", guard_name());
	for (u32 i = 0; i < vm_nr_guards; i++) {
		const struct vm_guard *guard = vm_guards[i];

		if (!guard)
			continue;
		seq_printf(m, "summary: %s\n", guard->summary);
		for (const struct vm_param *p = guard->params; p && p->name; p++)
			seq_printf(m, "%s: %u%s%s\n", p->name, *p->value, p->unit ? " " : "",
				   p->unit ?: "");
	}
	guard_call_show(m);
}
