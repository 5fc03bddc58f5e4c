/* Launders the same page for ever, without spending budget. */
#include "base.h"

static struct page *endless_select(struct vm_scan *scan)
{
	for (struct list_head *node = pages.next; node != &pages; node = node->next)
		if (vm_eligible(scan, policy_page_of(node))) {
			list_del(node);
			scan->act = VM_LAUNDER;
			return policy_page_of(node);
		}
	return NULL;
}

static void endless_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add(base_node(page), &pages);
}

static const struct vm_policy endless = {
	.name = "endless",
	.summary = "launders without end",
	.insert = base_insert,
	.remove = base_remove,
	.select = endless_select,
	.putback = endless_putback,
	.check = base_check,
};
VM_POLICY(endless);
