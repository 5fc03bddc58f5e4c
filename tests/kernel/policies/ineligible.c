/* Prefers pages that are not eligible for the scan. */
#include "base.h"

static struct page *ineligible_select(struct vm_scan *scan)
{
	struct list_head *node;

	for (node = pages.next; node != &pages; node = node->next)
		if (!vm_eligible(scan, policy_page_of(node))) {
			list_del(node);
			return policy_page_of(node);
		}
	return base_select(scan);
}

static const struct vm_policy ineligible = {
	.name = "ineligible",
	.summary = "gives what may not be taken",
	.insert = base_insert,
	.remove = base_remove,
	.select = ineligible_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(ineligible);
