/* Use-once with one pair of lists for all zones: pages that a scan may not take are passed over. */
#include "mm/policy.h"

struct useonce_one_pair_page {
	struct list_head node;
	bool active, referenced;
};
POLICY_PAGE_FITS(struct useonce_one_pair_page);

static LIST_HEAD(inactive); /* oldest first */
static LIST_HEAD(active);
static u32 nr_inactive, nr_active;

static struct useonce_one_pair_page *own(struct page *page)
{
	return policy_page(page);
}

static void enter(struct page *page, bool is_active)
{
	own(page)->active = is_active;
	list_add_tail(&own(page)->node, is_active ? &active : &inactive);
	if (is_active)
		nr_active++;
	else
		nr_inactive++;
}

static void leave(struct page *page)
{
	list_del(&own(page)->node);
	if (own(page)->active)
		nr_active--;
	else
		nr_inactive--;
}

static void used(struct page *page)
{
	struct useonce_one_pair_page *p = own(page);

	if (p->active || !p->referenced) {
		p->referenced = true;
		return;
	}
	p->referenced = false;
	leave(page);
	enter(page, true);
}

/* Looks once at the oldest active page. */
static void age_one(struct vm_scan *scan)
{
	struct page *page =
		policy_page_of(list_first_entry(&active, struct useonce_one_pair_page, node));
	bool stays = page_referenced(page) | own(page)->referenced;

	own(page)->referenced = false;
	leave(page);
	enter(page, stays && scan->priority);
}

static void age(struct vm_scan *scan)
{
	for (u32 n = 0; n < (scan->priority ? 32 : 16384) && nr_active; n++) {
		if (scan->priority && nr_inactive >= nr_active)
			return;
		if (!vm_scan_more(scan))
			return;
		age_one(scan);
	}
}

static struct page *take(struct vm_scan *scan)
{
	u32 once = nr_inactive;

	while (nr_inactive && vm_scan_more(scan)) {
		struct page *page = policy_page_of(
			list_first_entry(&inactive, struct useonce_one_pair_page, node));
		bool may = vm_eligible(scan, page);

		if (!scan->priority && !once--)
			return NULL;
		leave(page);
		if (may && (!scan->priority || !page_referenced(page)))
			return page;
		enter(page, false);
		if (may)
			used(page);
	}
	return NULL;
}

static struct page *useonce_one_pair_select(struct vm_scan *scan)
{
	struct page *page;

	do {
		age(scan);
		page = take(scan);
	} while (!page && nr_active && vm_scan_more(scan));
	return page;
}

static void useonce_one_pair_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
				    struct page_id from)
{
	(void)mm, (void)how, (void)from;
	own(page)->referenced = false;
	enter(page, false);
}

static void useonce_one_pair_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_DONTNEED)
		own(page)->referenced = false;
	else
		used(page);
}

static void useonce_one_pair_remove(struct page *page, enum vm_out why)
{
	(void)why;
	leave(page);
}

static void useonce_one_pair_putback(struct page *page, enum vm_put why)
{
	own(page)->referenced = false;
	enter(page, why == VM_PUT_USED);
}

static int useonce_one_pair_check(void)
{
	return nr_inactive + nr_active;
}

static const struct vm_policy useonce_one_pair = {
	.name = "useonce_one_pair",
	.summary = "use-once: one pair of lists",
	.insert = useonce_one_pair_insert,
	.touch = useonce_one_pair_touch,
	.remove = useonce_one_pair_remove,
	.select = useonce_one_pair_select,
	.putback = useonce_one_pair_putback,
	.check = useonce_one_pair_check,
};
VM_POLICY(useonce_one_pair);
