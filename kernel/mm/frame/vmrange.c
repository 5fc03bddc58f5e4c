/*
 * Addresses for vmalloc: ranges of a window, in a list sorted by address.
 *
 * First fit: a new range goes into the lowest gap that has room for it and one more page. That page
 * stays unmapped, so that an access beyond the end of a range faults and does not hit the next
 * range. A search looks at every range; there are only a few, and they live long.
 */
#include "mm/vmalloc.h"

bool vm_range_take(struct vm_window *w, struct vm_range *r, u32 bytes)
{
	struct vm_range *next;
	u32 at = w->start;

	if (!bytes || bytes & ~PAGE_MASK || bytes > w->end - w->start - PAGE_SIZE)
		return false;
	list_for_each_entry(next, &w->ranges, node) {
		if (next->start - at >= bytes + PAGE_SIZE)
			break;
		at = next->start + next->bytes + PAGE_SIZE;
	}
	if (&next->node == &w->ranges && w->end - at < bytes + PAGE_SIZE)
		return false;
	r->start = at;
	r->bytes = bytes;
	list_add_tail(&r->node, &next->node);
	return true;
}

void vm_range_give(struct vm_range *r)
{
	list_del(&r->node);
}

struct vm_range *vm_range_find(const struct vm_window *w, u32 start)
{
	struct vm_range *r;

	list_for_each_entry(r, &w->ranges, node)
		if (r->start == start)
			return r;
	return NULL;
}
