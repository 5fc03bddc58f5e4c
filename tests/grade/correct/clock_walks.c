/* CLOCK that walks over its list, and rotates it only when it has found a page. */
#include "mm/policy.h"

struct clock_walks_page {
	struct list_head link;
};
POLICY_PAGE_FITS(struct clock_walks_page);

static struct list_head pages = LIST_HEAD_INIT(pages);
static unsigned int nr_pages;

static inline struct list_head *link_of(struct page *page)
{
	struct clock_walks_page *own = policy_page(page);

	return &own->link;
}

/* The hand has passed the pages before this one: they become the last. */
static void turn_to(struct list_head *at)
{
	list_del(&pages);
	list_add_tail(&pages, at);
}

static struct page *clock_walks_select(struct vm_scan *scan)
{
	struct list_head *at = pages.next;
	struct page *found = NULL;

	if (!nr_pages)
		return NULL;
	for (; vm_scan_more(scan); at = at->next) {
		struct page *page;

		if (at == &pages)
			at = at->next;
		page = policy_page_of(list_entry(at, struct clock_walks_page, link));
		if (!vm_eligible(scan, page))
			continue;
		if (page_young(page)) {
			(void)page_referenced(page);
			continue;
		}
		found = page;
		break;
	}
	if (at != &pages)
		turn_to(at);
	if (found) {
		list_del(link_of(found));
		nr_pages--;
	}
	return found;
}

static void clock_walks_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			       struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add_tail(link_of(page), &pages);
	nr_pages++;
}

static void clock_walks_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(link_of(page), &pages);
	nr_pages++;
}

static void clock_walks_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(link_of(page));
	nr_pages--;
}

static int clock_walks_check(void)
{
	return (int)nr_pages == vm_list_length(&pages) ? (int)nr_pages : -1;
}

static const struct vm_policy clock_walks = {
	.name = "clock_walks",
	.summary = "second chance: walks",
	.insert = clock_walks_insert,
	.remove = clock_walks_remove,
	.select = clock_walks_select,
	.putback = clock_walks_putback,
	.check = clock_walks_check,
};
VM_POLICY(clock_walks);
