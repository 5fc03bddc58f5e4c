/* A guard that calls, inside spare, a function that calls the guard. */
#include "mm/guard.h"

static bool nested_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)owner;
	return vm_eligible(scan, page);
}

static const struct vm_guard nested = {
	.name = "nested",
	.summary = "calls vm_eligible in spare",
	.spare = nested_spare,
};
VM_GUARD(nested);
