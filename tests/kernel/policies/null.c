/* Dereferences a null pointer. */
#include "base.h"

static struct page *null_select(struct vm_scan *scan)
{
	struct page *page = NULL;

	__asm__("" : "+r"(page));
	page->count++;
	return base_select(scan);
}

static const struct vm_policy null = {
	.name = "null",
	.summary = "follows a null pointer",
	.insert = base_insert,
	.remove = base_remove,
	.select = null_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(null);
