/*
 * A page-replacement policy of your own.
 *
 * `make new-policy NAME=template` makes this file from TEMPLATE.c. `make sim VM=template` runs it
 * on the host and shows each decision, and `make qemu VM=template` boots it. You need not register
 * the policy anywhere.
 *
 * Begin with your theory: which page to evict and why, what you record for each page, and what you
 * assume about programs. The rules are in mm/policy.h; fifo.c and clock.c are short examples. As it
 * stands, this policy evicts the page that was inserted last. That is simple and correct, but so
 * bad that, with very few frames, a program whose instruction needs two pages may never make
 * progress. This policy ignores which process owns a page; a policy that does not needs one more
 * hook, moved.
 */
#include "mm/policy.h"

/* The policy's own data in every page: at most 24 bytes, all zero at insert. */
struct template_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct template_page);

static LIST_HEAD(pages);

static struct template_page *template_data(struct page *page)
{
	return policy_page(page);
}

/* The policy owns the page from now on. */
static void template_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			    struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add(&template_data(page)->node, &pages);
}

/* The policy no longer owns the page, for example because its memory was freed. */
static void template_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(&template_data(page)->node);
}

/*
 * A frame is needed: chooses the page to evict. Take the page off your list and return it, or
 * return NULL if no page is eligible. vm_scan_more counts the pages you have looked at, vm_eligible
 * says which pages this scan may take, and page_referenced says whether a page was used since your
 * last call.
 */
static struct page *template_select(struct vm_scan *scan)
{
	struct template_page *p;

	list_for_each_entry(p, &pages, node) {
		if (!vm_scan_more(scan))
			break;
		if (vm_eligible(scan, policy_page_of(p))) {
			list_del(&p->node);
			return policy_page_of(p);
		}
	}
	return NULL;
}

/* The core did not evict the page you chose; why gives the reason. The policy owns it again. */
static void template_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(&template_data(page)->node, &pages);
}

/* Returns the number of pages held, or < 0 if the lists are inconsistent. The core compares. */
static int template_check(void)
{
	return vm_list_length(&pages);
}

static const struct vm_policy template = {
	.name = "template",
	.summary = "last in, first out",
	.insert = template_insert,
	.remove = template_remove,
	.select = template_select,
	.putback = template_putback,
	.check = template_check,
};
VM_POLICY(template);
