/* Takes 10 ms to give a page: within the rules, but the machine is nearly always inside this hook. A
 * pass of reclaim, 128 pages, takes less than the 2 s after which the watchdog sees no progress. */
#include "base.h"

static struct page *busy_select(struct vm_scan *scan)
{
	u64 end = vm_now() + 10000000;

	while (vm_now() < end)
		;
	return base_select(scan);
}

static const struct vm_policy busy = {
	.name = "busy",
	.summary = "is at work most of the time",
	.insert = base_insert,
	.remove = base_remove,
	.select = busy_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(busy);
