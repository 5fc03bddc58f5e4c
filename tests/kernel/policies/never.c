/* Never gives a page. */
#include "base.h"

static struct page *never_select(struct vm_scan *scan)
{
	(void)scan;
	return NULL;
}

static const struct vm_policy never = {
	.name = "never",
	.summary = "gives nothing",
	.insert = base_insert,
	.remove = base_remove,
	.select = never_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(never);
