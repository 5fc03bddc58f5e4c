/* Never returns from select. */
#include "base.h"

static struct page *stuck_select(struct vm_scan *scan)
{
	while (!scan->mm)
		barrier();
	return NULL;
}

static const struct vm_policy stuck = {
	.name = "stuck",
	.summary = "never comes back",
	.insert = base_insert,
	.remove = base_remove,
	.select = stuck_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(stuck);
