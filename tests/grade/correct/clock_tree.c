/* CLOCK with a tree: a spared page gets a new number. */
#include "lib/rbtree.h"
#include "mm/policy.h"

struct clock_tree_page {
	struct rb_node node;
	u32 came;
};
POLICY_PAGE_FITS(struct clock_tree_page);

static struct rb_root tree = { NULL };
static u32 last;
static int nr;

static void enter(struct page *page)
{
	struct clock_tree_page *p = policy_page(page);
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
	struct clock_tree_page *p = policy_page(page);

	rb_erase(&p->node, &tree);
	nr--;
}

static void clock_tree_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			      struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enter(page);
}

static void clock_tree_remove(struct page *page, enum vm_out why)
{
	(void)why;
	leave(page);
}

static struct page *clock_tree_select(struct vm_scan *scan)
{
	struct rb_node *at;

	while ((at = rb_first(&tree)) && vm_scan_more(scan)) {
		struct page *page = policy_page_of(rb_entry(at, struct clock_tree_page, node));
		bool spared = !vm_eligible(scan, page) || page_referenced(page);

		leave(page);
		if (!spared)
			return page;
		enter(page);
	}
	return NULL;
}

static void clock_tree_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enter(page);
}

static int clock_tree_check(void)
{
	return nr;
}

static const struct vm_policy clock_tree = {
	.name = "clock_tree",
	.summary = "second chance: a tree",
	.insert = clock_tree_insert,
	.remove = clock_tree_remove,
	.select = clock_tree_select,
	.putback = clock_tree_putback,
	.check = clock_tree_check,
};
VM_POLICY(clock_tree);
