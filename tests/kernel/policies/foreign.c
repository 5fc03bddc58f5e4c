/* Gives a page that it never owned: one of the kernel's. */
#include "base.h"

static struct page *foreign_select(struct vm_scan *scan)
{
	(void)scan;
	return &mem_map[256];
}

static const struct vm_policy foreign = {
	.name = "foreign",
	.summary = "gives the kernel's pages away",
	.insert = base_insert,
	.remove = base_remove,
	.select = foreign_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(foreign);
