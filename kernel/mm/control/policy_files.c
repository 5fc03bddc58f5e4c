/* What /proc shows of the policies, and the switch to another policy at run time. */
#include "errno.h"
#include "lib/seq_file.h"
#include "mm/control.h"
#include "mm/policy_core.h"
#include "mm/zone.h"

int policy_switch(const char *name)
{
	const struct vm_policy *next = policy_find(name);
	int err = 0;

	if (!next)
		return -EINVAL;
	if (next == vm_policy)
		return 0;
	if (*policy_broken_mark(next))
		return -EPERM;
	if (next->init)
		err = next->init();
	if (!err)
		policy_take_over(next, false);
	return err;
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
