/* Loses every hundredth page that it receives. */
#include "base.h"

static void loser_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	static u32 nr;

	if (++nr % 100)
		base_insert(page, mm, how, from);
	else
		INIT_LIST_HEAD(base_node(page));
}

static const struct vm_policy loser = {
	.name = "loser",
	.summary = "loses pages",
	.insert = loser_insert,
	.remove = base_remove,
	.select = base_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(loser);
