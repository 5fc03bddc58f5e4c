/* Takes 300 ms to show its numbers, which every sample reads. */
#include "base.h"

static void slowshow_show(struct seq_file *m)
{
	u64 end = vm_now() + 300000000;

	while (vm_now() < end)
		;
	show_u64(m, "pages", base_check());
}

static const struct vm_policy slowshow = {
	.name = "slowshow",
	.summary = "takes its time to show anything",
	.insert = base_insert,
	.remove = base_remove,
	.select = base_select,
	.putback = base_putback,
	.check = base_check,
	.show = slowshow_show,
};
VM_POLICY(slowshow);
