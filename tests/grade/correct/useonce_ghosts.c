/*
 * The full 2Q of T. Johnson and D. Shasha (1994), with the kernel's table of ghosts. New pages queue in A1in, whether they
 * are used there or not; A1out remembers what was evicted from it. A page that returns while it is remembered goes to Am,
 * where second chances approximate LRU.
 */
#include "mm/ghost.h"

struct useonce_ghosts_page {
	struct list_head node;
	bool in_am;
};
POLICY_PAGE_FITS(struct useonce_ghosts_page);

static LIST_HEAD(a1in); /* oldest first */
static LIST_HEAD(a1out);
static LIST_HEAD(am); /* the hand is before the first */
static u32 nr_a1in, nr_am;
static struct ghosts ghosts;

static struct useonce_ghosts_page *own(struct page *page)
{
	return policy_page(page);
}

static void enter(struct page *page, bool in_am)
{
	own(page)->in_am = in_am;
	list_add_tail(&own(page)->node, in_am ? &am : &a1in);
	nr_am += in_am;
	nr_a1in += !in_am;
}

static void leave(struct page *page)
{
	list_del(&own(page)->node);
	nr_am -= own(page)->in_am;
	nr_a1in -= !own(page)->in_am;
}

static int useonce_ghosts_init(void)
{
	return ghosts_init(&ghosts, max_pfn);
}

static void useonce_ghosts_exit(void)
{
	ghosts_exit(&ghosts);
}

static bool take_ghost(struct page_id id)
{
	struct ghost *ghost = id.store ? ghost_find(&ghosts, id) : NULL;

	if (ghost)
		ghost_drop(&ghosts, ghost);
	return ghost;
}

static void useonce_ghosts_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
				  struct page_id from)
{
	(void)mm;
	enter(page, (how == VM_IN_FAULT || how == VM_IN_CLAIM) && take_ghost(from));
}

static void useonce_ghosts_remove(struct page *page, enum vm_out why)
{
	(void)why;
	leave(page);
}

static struct page *take(struct list_head *list, struct vm_scan *scan, u32 left, bool spare_used)
{
	while (left-- && vm_scan_more(scan)) {
		struct useonce_ghosts_page *p =
			list_first_entry(list, struct useonce_ghosts_page, node);
		struct page *page = policy_page_of(p);

		if (!vm_eligible(scan, page) || (spare_used && page_referenced(page))) {
			list_move_tail(&p->node, list);
			continue;
		}
		leave(page);
		return page;
	}
	return NULL;
}

/* A1in keeps a quarter of the frames. */
static struct page *useonce_ghosts_select(struct vm_scan *scan)
{
	struct page *page = nr_a1in > vm_frames() / 4 ? take(&a1in, scan, nr_a1in, false) : NULL;

	if (!page)
		page = take(&am, scan, 2 * nr_am, scan->priority > 0);
	return page ?: take(&a1in, scan, nr_a1in, false);
}

static void useonce_ghosts_putback(struct page *page, enum vm_put why)
{
	enter(page, why == VM_PUT_USED);
}

/* A1out remembers half as many pages as there are frames. */
static void useonce_ghosts_evicted(struct page *page, struct page_id to)
{
	struct ghost *ghost;

	if (own(page)->in_am)
		return;
	while (ghosts.nr && ghosts.nr >= vm_frames() / 2)
		ghost_drop(&ghosts, list_first_entry(&a1out, struct ghost, node));
	ghost = ghost_add(&ghosts, to);
	list_add_tail(&ghost->node, &a1out);
}

static void useonce_ghosts_forget(struct page_id id)
{
	take_ghost(id);
}

static int useonce_ghosts_check(void)
{
	return nr_a1in + nr_am;
}

static const struct vm_policy useonce_ghosts = {
	.name = "useonce_ghosts",
	.summary = "2Q with ghosts",
	.init = useonce_ghosts_init,
	.exit = useonce_ghosts_exit,
	.insert = useonce_ghosts_insert,
	.remove = useonce_ghosts_remove,
	.select = useonce_ghosts_select,
	.putback = useonce_ghosts_putback,
	.evicted = useonce_ghosts_evicted,
	.forget = useonce_ghosts_forget,
	.check = useonce_ghosts_check,
};
VM_POLICY(useonce_ghosts);
