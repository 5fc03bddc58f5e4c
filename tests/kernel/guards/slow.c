/* A guard that once takes 300 ms of machine time for one decision. */
#include "mm/guard.h"

static bool slow_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	u64 end = vm_now() + 300000000u;

	(void)page, (void)owner, (void)scan;
	while (vm_now() < end)
		;
	return true;
}

static const struct vm_guard slow = {
	.name = "slow",
	.summary = "thinks for 300 ms",
	.spare = slow_spare,
};
VM_GUARD(slow);
