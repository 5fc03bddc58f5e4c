/* Gives a page only when it is called once more after it gave none at priority 0. */
#include "base.h"

static struct page *again_select(struct vm_scan *scan)
{
	static u32 nr_desperate;

	return !scan->priority && ++nr_desperate % 2 == 0 ? base_select(scan) : NULL;
}

static const struct vm_policy again = {
	.name = "again",
	.summary = "has to be asked twice",
	.insert = base_insert,
	.remove = base_remove,
	.select = again_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(again);
