/* Loses pages that move to another process. */
#include "base.h"

static void dropper_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	(void)from, (void)to;
	list_del(base_node(page));
	INIT_LIST_HEAD(base_node(page));
}

static const struct vm_policy dropper = {
	.name = "dropper",
	.summary = "loses pages that move",
	.insert = base_insert,
	.remove = base_remove,
	.moved = dropper_moved,
	.select = base_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(dropper);
