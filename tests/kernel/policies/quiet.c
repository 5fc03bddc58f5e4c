/* Follows every rule: shows that the kernel with the faulty policies works. */
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
