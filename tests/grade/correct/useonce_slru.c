/*
 * Segmented LRU (Karedla, Love, Wherry, 1994), with the proof that the handout asks for: a page in use at two looks, some
 * time apart, enters the protected segment, which holds at most half of the pages. What it holds beyond that goes back to
 * the probationary segment, oldest first.
 */
#include "mm/policy.h"

struct useonce_slru_page {
	struct list_head node;
	bool protected, used;
};
POLICY_PAGE_FITS(struct useonce_slru_page);

static LIST_HEAD(probation); /* oldest first */
static LIST_HEAD(protection);
static u32 nr_probation, nr_protected;

static struct useonce_slru_page *own(struct page *page)
{
	return policy_page(page);
}

static void enter(struct page *page, bool protected)
{
	own(page)->protected = protected;
	own(page)->used = false;
	list_add_tail(&own(page)->node, protected ? &protection : &probation);
	nr_protected += protected;
	nr_probation += !protected;
}

static void leave(struct page *page)
{
	list_del(&own(page)->node);
	nr_protected -= own(page)->protected;
	nr_probation -= !own(page)->protected;
}

static struct page *oldest(struct list_head *segment)
{
	return policy_page_of(list_first_entry(segment, struct useonce_slru_page, node));
}

/* Notes a use that a look found. */
static void note_use(struct page *page)
{
	bool proved = own(page)->protected || own(page)->used;

	leave(page);
	enter(page, proved);
	own(page)->used = !proved || own(page)->protected;
}

static void useonce_slru_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
				struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enter(page, false);
}

static void useonce_slru_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_DONTNEED)
		own(page)->used = false;
	else
		note_use(page);
}

static void useonce_slru_remove(struct page *page, enum vm_out why)
{
	(void)why;
	leave(page);
}

/* Sends the oldest protected pages back while there are more than half; a used one gets a second chance. */
static void demote(struct vm_scan *scan)
{
	u32 looks = 2 * nr_protected;

	while (nr_protected && looks-- && (!scan->priority || nr_protected > nr_probation)) {
		struct page *page = oldest(&protection);
		bool used;

		if (!vm_scan_more(scan))
			return;
		used = page_referenced(page) | own(page)->used;
		leave(page);
		enter(page, used && scan->priority);
	}
}

static struct page *useonce_slru_select(struct vm_scan *scan)
{
	u32 looks;

	demote(scan);
	for (looks = 3 * (nr_probation + nr_protected); looks && nr_probation && vm_scan_more(scan);
	     looks--) {
		struct page *page = oldest(&probation);

		if (!vm_eligible(scan, page)) {
			list_move_tail(&own(page)->node, &probation);
		} else if (scan->priority && page_referenced(page)) {
			note_use(page);
			demote(scan);
		} else {
			leave(page);
			return page;
		}
	}
	return NULL;
}

static void useonce_slru_putback(struct page *page, enum vm_put why)
{
	enter(page, why == VM_PUT_USED);
}

static int useonce_slru_check(void)
{
	return nr_probation + nr_protected;
}

static const struct vm_policy useonce_slru = {
	.name = "useonce_slru",
	.summary = "segmented LRU",
	.insert = useonce_slru_insert,
	.touch = useonce_slru_touch,
	.remove = useonce_slru_remove,
	.select = useonce_slru_select,
	.putback = useonce_slru_putback,
	.check = useonce_slru_check,
};
VM_POLICY(useonce_slru);
