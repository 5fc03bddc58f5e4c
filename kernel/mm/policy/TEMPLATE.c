/*
 * A page-replacement policy of your own.
 *
 * `make new-policy NAME=template` makes this file from TEMPLATE.c. `make sim VM=template` runs it
 * on the host and shows each decision, `make qemu VM=template` boots it. Nothing else has to be
 * told about it.
 *
 * Begin with your theory: which page goes next, and why; what you keep per page; what you
 * believe about programs. The rules are in mm/policy.h; fifo.c and clock.c are short examples. As
 * it stands this policy takes the page that came last: simple, correct, and so bad that a program
 * whose instruction needs two pages may wait for ever when there are very few frames. It does not ask
 * whose a page is; a policy that does needs one more hook, moved.
 */
#include "mm/policy.h"

/* Yours to keep with every page: at most 24 bytes, all zero at insert. */
struct template_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct template_page);

static LIST_HEAD(pages);

static struct template_page *template_data(struct page *page)
{
	return policy_page(page);
}

/* A page is yours from now on. */
static void template_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			    struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add(&template_data(page)->node, &pages);
}

/* It is yours no longer: its memory was freed, for instance. */
static void template_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(&template_data(page)->node);
}

/*
 * A frame is needed: which page shall go? Take it off your list and return it; NULL when there is
 * none that fits. vm_scan_more counts how many you have looked at, vm_eligible says which
 * pages this scan may take, page_referenced whether a page was used since you last asked.
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

/* You chose it, but it stays: why says what happened. It is yours again. */
static void template_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(&template_data(page)->node, &pages);
}

/* How many pages you hold; the core compares. Negative: your lists contradict themselves. */
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
