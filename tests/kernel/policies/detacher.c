/* Detaches pages, but never has one evicted. */
#include "base.h"

static struct page *detacher_select(struct vm_scan *scan)
{
	scan->act = VM_DETACH;
	return base_select(scan);
}

static const struct vm_policy detacher = {
	.name = "detacher",
	.summary = "evicts nothing",
	.insert = base_insert,
	.remove = base_remove,
	.select = detacher_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(detacher);
