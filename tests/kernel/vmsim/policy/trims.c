/* Fills memory, and has no tick: pages beyond 40 are surplus. The oldest page is evicted first. */
#include "mm/policy.h"

#define ENOUGH 40u

static LIST_HEAD(queue); /* oldest first */
static u32 nr;

static void trims_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add_tail(policy_page(page), &queue);
	nr++;
}

static void trims_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(policy_page(page));
	nr--;
}

static struct page *trims_select(struct vm_scan *scan)
{
	for (struct list_head *at = queue.next; at != &queue && vm_scan_more(scan); at = at->next)
		if (vm_eligible(scan, policy_page_of(at))) {
			trims_remove(policy_page_of(at), VM_OUT_FREED);
			return policy_page_of(at);
		}
	return NULL;
}

static void trims_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(policy_page(page), &queue);
	nr++;
}

static u32 trims_surplus(struct mm_struct *mm)
{
	(void)mm;
	return nr > ENOUGH ? nr - ENOUGH : 0;
}

static int trims_check(void)
{
	return vm_list_length(&queue);
}

static const struct vm_policy trims = {
	.name = "trims",
	.summary = "gives pages back without a tick",
	.tick_ms = 50,
	.insert = trims_insert,
	.remove = trims_remove,
	.select = trims_select,
	.putback = trims_putback,
	.surplus = trims_surplus,
	.check = trims_check,
};
VM_POLICY(trims);
