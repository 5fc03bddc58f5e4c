/* Reports that its lists are broken. */
#include "base.h"

static int broken_check(void)
{
	return -1;
}

static const struct vm_policy broken = {
	.name = "broken",
	.summary = "has broken lists",
	.insert = base_insert,
	.remove = base_remove,
	.select = base_select,
	.putback = base_putback,
	.check = broken_check,
};
VM_POLICY(broken);
