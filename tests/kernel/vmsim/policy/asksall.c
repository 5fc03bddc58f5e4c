/*
 * FIFO with a second chance as in VAX/VMS (H. Levy, P. Lipman, IEEE Computer 15(3), 1982): the oldest
 * page is removed from the page tables, but stays in memory on a list, from which a fault retrieves
 * it. It is written before that, and meanwhile the page after it is trapped. So the policy uses
 * everything that a policy may use, and its later decisions do not depend on its initial state.
 */
#include "mm/policy.h"

struct asksall_page {
	struct list_head node;
	u32 laundered, waits;
	enum vm_act asked;
};
POLICY_PAGE_FITS(struct asksall_page);

static LIST_HEAD(resident); /* oldest first */
static LIST_HEAD(waiting);
static u32 nr_waiting, spare = 4;
static bool writing; /* laundering: end this pass, so that the page is written before the next */

static const struct vm_param asksall_params[] = {
	{ "spare", &spare, 1, 1000, "pages", "how many wait before one goes" },
	{ 0 },
};

static struct asksall_page *asksall_data(struct page *page)
{
	return policy_page(page);
}

static void enlist(struct page *page, bool waits)
{
	asksall_data(page)->waits = waits;
	nr_waiting += waits;
	list_add_tail(&asksall_data(page)->node, waits ? &waiting : &resident);
}

static void delist(struct page *page)
{
	list_del(&asksall_data(page)->node);
	nr_waiting -= asksall_data(page)->waits;
}

static void asksall_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			   struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enlist(page, false);
}

static void asksall_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm, (void)how;
	asksall_data(page)->laundered = false;
	delist(page);
	enlist(page, false);
}

static void asksall_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

/* The oldest page of a list that the scan may take. */
static struct page *oldest(struct list_head *list, struct vm_scan *scan)
{
	struct asksall_page *p;

	list_for_each_entry(p, list, node) {
		if (!vm_scan_more(scan))
			break;
		if (vm_eligible(scan, policy_page_of(p)))
			return policy_page_of(p);
	}
	return NULL;
}

static void trap_next(struct page *page)
{
	struct list_head *next = asksall_data(page)->node.next;

	if (next != &resident)
		page_trap(policy_page_of(next));
}

static struct page *asksall_select(struct vm_scan *scan)
{
	struct page *page = NULL;

	if (writing) {
		writing = false;
		return NULL;
	}
	if (nr_waiting < spare)
		page = oldest(&resident, scan);
	if (!page)
		page = oldest(&waiting, scan);
	if (!page)
		return NULL;
	if (!asksall_data(page)->waits && !asksall_data(page)->laundered) {
		scan->act = VM_LAUNDER;
		asksall_data(page)->laundered = writing = true;
		trap_next(page);
	} else if (!asksall_data(page)->waits) {
		scan->act = VM_DETACH;
	}
	asksall_data(page)->asked = scan->act;
	delist(page);
	return page;
}

static void asksall_putback(struct page *page, enum vm_put why)
{
	enlist(page, why == VM_PUT_DONE && asksall_data(page)->asked == VM_DETACH);
	if (asksall_data(page)->asked == VM_LAUNDER)
		list_move(&asksall_data(page)->node, &resident);
}

static int asksall_check(void)
{
	int waits = vm_list_length(&waiting), others = vm_list_length(&resident);

	return waits == (int)nr_waiting && others >= 0 ? waits + others : -1;
}

static const struct vm_policy asksall = {
	.name = "asksall",
	.summary = "first in, first out, with a list of pages that wait",
	.params = asksall_params,
	.insert = asksall_insert,
	.touch = asksall_touch,
	.remove = asksall_remove,
	.select = asksall_select,
	.putback = asksall_putback,
	.check = asksall_check,
};
VM_POLICY(asksall);
