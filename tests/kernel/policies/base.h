/*
 * A correct FIFO, the base of the policies in this folder: each of them breaks one rule of
 * mm/policy.h, and tests/kernel/test_policies.py expects the core to report it. They are built into a
 * separate kernel, never into Tidemark.
 */
#ifndef TESTS_POLICIES_BASE_H
#define TESTS_POLICIES_BASE_H

#include "mm/policy.h"

static LIST_HEAD(pages); /* oldest first */

static inline struct list_head *base_node(struct page *page)
{
	return policy_page(page);
}

static inline void base_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			       struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add_tail(base_node(page), &pages);
}

static inline void base_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(base_node(page));
}

/* The oldest page that the scan may take; it stays on the list. */
static inline struct page *base_find(struct vm_scan *scan)
{
	struct list_head *node;

	for (node = pages.next; node != &pages && vm_scan_more(scan); node = node->next)
		if (vm_eligible(scan, policy_page_of(node)))
			return policy_page_of(node);
	return NULL;
}

static inline struct page *base_select(struct vm_scan *scan)
{
	struct page *page = base_find(scan);

	if (page)
		list_del(base_node(page));
	return page;
}

static inline void base_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(base_node(page), &pages);
}

static inline int base_check(void)
{
	struct list_head *node;
	int n = 0;

	for (node = pages.next; node != &pages; node = node->next)
		n++;
	return n;
}

#endif
