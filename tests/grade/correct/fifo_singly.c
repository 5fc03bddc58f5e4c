/* FIFO with a singly linked list of pages; a page removed from the middle must be searched for. */
#include "mm/policy.h"

struct fifo_singly_page {
	struct page *next;
};
POLICY_PAGE_FITS(struct fifo_singly_page);

static struct page *head;
static struct page **end = &head;
static int count;

static inline struct page **after(struct page *page)
{
	return &((struct fifo_singly_page *)policy_page(page))->next;
}

static int fifo_singly_check(void)
{
	return count;
}

static void append(struct page *page)
{
	*after(page) = NULL;
	*end = page;
	end = after(page);
	count++;
}

static void unchain(struct page **link)
{
	struct page *page = *link;

	*link = *after(page);
	if (end == after(page))
		end = link;
	count--;
}

static struct page *fifo_singly_select(struct vm_scan *scan)
{
	for (struct page **link = &head; *link; link = after(*link)) {
		struct page *found = *link;

		if (!vm_scan_more(scan))
			return NULL;
		if (!vm_eligible(scan, found))
			continue;
		unchain(link);
		return found;
	}
	return NULL;
}

static void fifo_singly_putback(struct page *page, enum vm_put why)
{
	(void)why;
	append(page);
}

static void fifo_singly_remove(struct page *page, enum vm_out why)
{
	struct page **link = &head;

	(void)why;
	while (*link != page)
		link = after(*link);
	unchain(link);
}

static void fifo_singly_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			       struct page_id from)
{
	(void)mm, (void)how, (void)from;
	append(page);
}

static const struct vm_policy fifo_singly = {
	.name = "fifo_singly",
	.summary = "first in, first out: a chain",
	.check = fifo_singly_check,
	.insert = fifo_singly_insert,
	.putback = fifo_singly_putback,
	.remove = fifo_singly_remove,
	.select = fifo_singly_select,
};
VM_POLICY(fifo_singly);
