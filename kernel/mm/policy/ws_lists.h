/*
 * The lists of ws.c. Each page is on one of them, least recently used first:
 *
 *	set      the working set of its process
 *	left     pages that have left it
 *	nobodys  unowned pages: read ahead, or by read and write, in no working set. They are evicted
 *	         before a process must wait for memory, and when there are many
 *	shared   (after fork) pages used while their owner did not run, so by another process: they stay
 *	         when their owner must wait
 *
 * The time of a page's last use is that of its process, or machine time on the last two lists. The data
 * of a process begin with its struct ws_lists.
 */
#ifndef WS_LISTS_H
#define WS_LISTS_H

#include "mm/policy.h"

#define PER_MS 977 /* times are in units of 1,024 ns: no division needed */

enum where { SET, LEFT, NOBODYS, SHARED };

struct ws_page {
	struct list_head node;
	u32 used; /* low bits of the time of its last use */
	u8 where;
};
POLICY_PAGE_FITS(struct ws_page);

struct ws_list {
	struct list_head pages;
	u32 nr;
};

struct ws_lists {
	struct ws_list set, left;
};

static struct ws_list nobodys = { LIST_HEAD_INIT(nobodys.pages), 0 };
static struct ws_list shared = { LIST_HEAD_INIT(shared.pages), 0 };
static u32 nr_pages; /* on all lists */

static struct ws_page *ws_data(struct page *page)
{
	return policy_page(page);
}

static u32 vtime(struct mm_struct *mm)
{
	return mm_vtime(mm) >> 10;
}

static struct ws_list *list_of(struct page *page)
{
	struct ws_page *p = ws_data(page);
	struct ws_lists *own;

	if (p->where > LEFT)
		return p->where == SHARED ? &shared : &nobodys;
	own = policy_mm(page_mm(page));
	return p->where == SET ? &own->set : &own->left;
}

/* Adds a page as used just now. A page without a process is unowned. */
static void enlist(struct page *page, enum where where)
{
	struct mm_struct *mm = page_mm(page);
	struct ws_page *p = ws_data(page);

	p->where = mm ? where : NOBODYS;
	p->used = p->where <= LEFT ? vtime(mm) : vm_now() >> 10;
	list_add_tail(&p->node, &list_of(page)->pages);
	list_of(page)->nr++;
	nr_pages++;
}

static void delist(struct page *page)
{
	list_del(&ws_data(page)->node);
	list_of(page)->nr--;
	nr_pages--;
}

static void move(struct page *page, enum where where)
{
	delist(page);
	enlist(page, where);
}

static int ws_check(void)
{
	int sum = vm_list_length(&nobodys.pages) + vm_list_length(&shared.pages);

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm)) {
		const struct ws_lists *own = policy_mm(mm);

		sum += vm_list_length(&own->set.pages) + vm_list_length(&own->left.pages);
	}
	return sum == (int)nr_pages ? sum : -1;
}

#endif
