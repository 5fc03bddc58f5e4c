/* Takes 300 ms to put a page on its list. */
#include "base.h"

static void slow_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	u64 end = vm_now() + 300000000;

	while (vm_now() < end)
		;
	base_insert(page, mm, how, from);
}

static const struct vm_policy slow = {
	.name = "slow",
	.summary = "takes its time",
	.insert = slow_insert,
	.remove = base_remove,
	.select = base_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(slow);
