/*
 * Choosing the policy: vm= at boot, /proc/sys/vm/policy at run time. mm/seam/handover.c does the
 * switch itself.
 *
 * The lists of a policy that broke a rule still contain the pages that it had, so it is never
 * switched on again.
 */
#include "errno.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "lib/string.h"
#include "mm/control.h"
#include "mm/policy_core.h"
#include "mm/zone.h"

#define DEFAULT "2q"
#define FALLBACK "fifo"

#define MAX_POLICIES 64

static const struct vm_policy *chosen; /* vm= */
static bool broken[MAX_POLICIES];      /* indexed as policy_table */

static const struct vm_policy *policy_find(const char *name)
{
	u32 i = 0;

	while (policy_at(i) && strcmp(policy_at(i)->name, name))
		i++;
	return policy_at(i);
}

static const char *choose(const char *text)
{
	chosen = policy_find(text);
	return chosen ? NULL : "no such policy";
}

static void list_policies(char *buf, size_t size)
{
	*buf = '\0';
	for (u32 i = 0; policy_at(i); i++) {
		strlcat(buf, i ? "|" : "", size);
		strlcat(buf, policy_at(i)->name, size);
	}
}

static void show_policy(char *buf, size_t size)
{
	strlcpy(buf, vm_policy ? vm_policy->name : "", size);
}

PARAM_ENUM("vm", choose, list_policies, show_policy, "page-replacement policy", AT_BOOT);

static bool *broken_mark(const struct vm_policy *policy)
{
	u32 i = 0;

	while (policy_at(i) != policy)
		i++;
	return &broken[i];
}

bool policy_is_fallback(void)
{
	return !strcmp(vm_policy->name, FALLBACK);
}

void policy_fall_back(void)
{
	if (policy_is_fallback())
		panic("the fallback policy itself is broken");
	*broken_mark(vm_policy) = true;
	policy_take_over(policy_find(FALLBACK), true);
}

int policy_switch(const char *name)
{
	const struct vm_policy *next = policy_find(name);
	int err = 0;

	if (!next)
		return -EINVAL;
	if (next == vm_policy)
		return 0;
	if (*broken_mark(next))
		return -EPERM;
	if (next->init)
		err = next->init();
	if (!err)
		policy_take_over(next, false);
	return err;
}

void policy_register_params(void)
{
	for (u32 i = 0; policy_at(i); i++)
		if (policy_at(i)->params)
			param_register(policy_at(i)->name, policy_at(i)->params);
}

void policy_init(void)
{
	for (u32 i = 0; policy_at(i); i++) {
		ASSERT(i < MAX_POLICIES);
		policy_require_hooks(policy_at(i));
	}
	policy_start(chosen ?: policy_find(DEFAULT));
	printk("policy: %s, %s\n", vm_policy->name, vm_policy->summary);
}

void policy_names(struct seq_file *m)
{
	for (u32 i = 0; policy_at(i); i++) {
		bool on = policy_at(i) == vm_policy;

		seq_printf(m, "%s%s%s%s", i ? " " : "", on ? "[" : "", policy_at(i)->name,
			   on ? "]" : "");
	}
	seq_putc(m, '\n');
}

void policy_show(struct seq_file *m)
{
	seq_printf(m, "policy: %s\nsummary: %s\nviolations: %u\nowned: %u\nisolated: %u\n",
		   vm_policy->name, vm_policy->summary, policy_violations(), zones_nr_owned(),
		   vm_nr_isolated);
	for (const struct vm_param *p = vm_policy->params; p && p->name; p++)
		seq_printf(m, "%s: %u%s%s\n", p->name, *p->value, p->unit ? " " : "",
			   p->unit ?: "");
	policy_call_show(m);
}
