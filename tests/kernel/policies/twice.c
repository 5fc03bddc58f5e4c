/* Does not remove the page that it gives from its list, and gives it again. */
#include "base.h"

static struct page *twice_select(struct vm_scan *scan)
{
	(void)scan;
	return list_empty(&pages) ? NULL : policy_page_of(pages.next);
}

static const struct vm_policy twice = {
	.name = "twice",
	.summary = "gives the same page twice",
	.insert = base_insert,
	.remove = base_remove,
	.select = twice_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(twice);
