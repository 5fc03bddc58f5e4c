/* Takes 300 ms when a page moves to another process. */
#include "base.h"

static void slowmove_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	u64 end = vm_now() + 300000000;

	(void)page, (void)from, (void)to;
	while (vm_now() < end)
		;
}

static const struct vm_policy slowmove = {
	.name = "slowmove",
	.summary = "moves slowly",
	.insert = base_insert,
	.remove = base_remove,
	.moved = slowmove_moved,
	.select = base_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(slowmove);
