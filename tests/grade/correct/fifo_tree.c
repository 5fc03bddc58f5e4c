/* FIFO with a tree of pages ordered by arrival. */
#include "lib/rbtree.h"
#include "mm/policy.h"

struct fifo_tree_page {
	struct rb_node node;
	u32 came;
};
POLICY_PAGE_FITS(struct fifo_tree_page);

static struct rb_root tree = { NULL };
static u32 last;
static int nr;

static void enter(struct page *page)
{
	struct fifo_tree_page *p = policy_page(page);
	struct rb_node **link = &tree.rb_node, *parent = NULL;

	p->came = ++last;
	while (*link) {
		parent = *link;
		link = &parent->rb_right;
	}
	rb_link_node(&p->node, parent, link);
	rb_insert_color(&p->node, &tree);
	nr++;
}

static void leave(struct page *page)
{
	struct fifo_tree_page *p = policy_page(page);

	rb_erase(&p->node, &tree);
	nr--;
}

static void fifo_tree_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			     struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enter(page);
}

static void fifo_tree_remove(struct page *page, enum vm_out why)
{
	(void)why;
	leave(page);
}

static struct page *fifo_tree_select(struct vm_scan *scan)
{
	for (struct rb_node *at = rb_first(&tree); at && vm_scan_more(scan); at = rb_next(at)) {
		struct page *page = policy_page_of(rb_entry(at, struct fifo_tree_page, node));

		if (vm_eligible(scan, page)) {
			leave(page);
			return page;
		}
	}
	return NULL;
}

static void fifo_tree_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enter(page);
}

static int fifo_tree_check(void)
{
	return nr;
}

static const struct vm_policy fifo_tree = {
	.name = "fifo_tree",
	.summary = "first in, first out: a tree",
	.insert = fifo_tree_insert,
	.remove = fifo_tree_remove,
	.select = fifo_tree_select,
	.putback = fifo_tree_putback,
	.check = fifo_tree_check,
};
VM_POLICY(fifo_tree);
