/* Keeps every rule: shows that the kernel of the bad policies is a good one. */
#include "base.h"

static const struct vm_policy quiet = {
	.name = "quiet",
	.summary = "breaks nothing",
	.insert = base_insert,
	.remove = base_remove,
	.select = base_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(quiet);
