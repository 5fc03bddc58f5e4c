/* Asks the core for a page while the core is asking it for one. */
#include "base.h"

struct page *policy_call_select(struct vm_scan *scan);

static struct page *nested_select(struct vm_scan *scan)
{
	return policy_call_select(scan);
}

static const struct vm_policy nested = {
	.name = "nested",
	.summary = "calls hooks from inside a hook",
	.insert = base_insert,
	.remove = base_remove,
	.select = nested_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(nested);
