/* Reports one page more than it holds. */
#include "base.h"

static int miscount_check(void)
{
	return base_check() + 1;
}

static const struct vm_policy miscount = {
	.name = "miscount",
	.summary = "cannot count",
	.insert = base_insert,
	.remove = base_remove,
	.select = base_select,
	.putback = base_putback,
	.check = miscount_check,
};
VM_POLICY(miscount);
