/* Gives a pointer that does not point to a page. */
#include "base.h"

static struct page *nowhere_select(struct vm_scan *scan)
{
	(void)scan;
	return (struct page *)((char *)mem_map + 12);
}

static const struct vm_policy nowhere = {
	.name = "nowhere",
	.summary = "gives what is not a page",
	.insert = base_insert,
	.remove = base_remove,
	.select = nowhere_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(nowhere);
