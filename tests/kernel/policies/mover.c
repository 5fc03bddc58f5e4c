/* Follows every rule, and checks that the owner of its pages changes only through moved, that moved finds its data
 * unchanged, and that the clock of a process that gives up a page still runs. */
#include "base.h"

struct mover_page {
	struct list_head node; /* must be first: base_node */
	struct mm_struct *owner;
	u32 mark;
};
POLICY_PAGE_FITS(struct mover_page);

struct mover_mm {
	u64 vtime; /* at its last fault */
};
POLICY_MM_FITS(struct mover_mm);

static u64 nr_first, nr_passed, nr_left, nr_back, nr_wrong;

static struct mover_page *mover_data(struct page *page)
{
	return policy_page(page);
}

static u32 mark_of(const struct page *page)
{
	return 0x5eed0000u ^ (u32)(page - mem_map);
}

static void expect_owner(struct page *page, struct mm_struct *owner)
{
	struct mover_page *p = mover_data(page);

	nr_wrong += p->owner != owner || p->mark != mark_of(page);
}

static void note(struct page *page)
{
	struct mm_struct *mm = page_mm(page);

	mover_data(page)->owner = mm;
	mover_data(page)->mark = mark_of(page);
	if (mm)
		((struct mover_mm *)policy_mm(mm))->vtime = mm_vtime(mm);
}

static void mover_mm_init(struct mm_struct *mm)
{
	((struct mover_mm *)policy_mm(mm))->vtime = 0;
}

static void mover_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	nr_wrong += mover_data(page)->mark != 0;
	note(page);
	base_insert(page, mm, how, from);
}

static void mover_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm, (void)how;
	expect_owner(page, page_mm(page));
}

static void mover_remove(struct page *page, enum vm_out why)
{
	expect_owner(page, page_mm(page));
	base_remove(page, why);
}

static void mover_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	nr_wrong += from == to || page_mm(page) != to;
	expect_owner(page, from);
	if (from)
		nr_wrong += mm_vtime(from) < ((struct mover_mm *)policy_mm(from))->vtime;
	nr_first += !from && page_id_of(page).store > 1;
	nr_back += !from && page_id_of(page).store == 1;
	nr_passed += from && to;
	nr_left += !to;
	note(page);
}

static struct page *mover_select(struct vm_scan *scan)
{
	struct page *page = base_select(scan);

	if (page)
		expect_owner(page, page_mm(page));
	return page;
}

static void mover_putback(struct page *page, enum vm_put why)
{
	note(page);
	base_putback(page, why);
}

static void mover_show(struct seq_file *m)
{
	show_u64(m, "first_mapped", nr_first);
	show_u64(m, "passed_on", nr_passed);
	show_u64(m, "left_by_all", nr_left);
	show_u64(m, "mapped_again_from_swap", nr_back);
	show_u64(m, "wrong", nr_wrong);
}

static const struct vm_policy mover = {
	.name = "mover",
	.summary = "notes whose each page is",
	.mm_init = mover_mm_init,
	.insert = mover_insert,
	.touch = mover_touch,
	.remove = mover_remove,
	.moved = mover_moved,
	.select = mover_select,
	.putback = mover_putback,
	.check = base_check,
	.show = mover_show,
};
VM_POLICY(mover);
