/*
 * Use-once with arrays instead of lists: each queue is a ring of frame numbers. A page that leaves its queue leaves a
 * hole, and when a ring is full, its holes are closed.
 */
#include "mm/policy.h"
#include "mm/slab.h"

#define HOLE 0xFFFFFFFFu

struct useonce_array_page {
	u32 at; /* place in its ring, counted from the beginning of time */
	bool active, referenced;
};
POLICY_PAGE_FITS(struct useonce_array_page);

static struct ring {
	u32 *frame;
	u32 head, tail, nr; /* oldest; next free; pages */
} rings[2];
static u32 size;

static struct useonce_array_page *own(struct page *page)
{
	return policy_page(page);
}

static struct ring *ring_of(struct page *page)
{
	return &rings[own(page)->active];
}

static int useonce_array_init(void)
{
	size = 2 * max_pfn;
	for (int i = 0; i < 2; i++) {
		rings[i] = (struct ring){ .frame = kmalloc(size * sizeof(u32), GFP_KERNEL) };
		if (!rings[i].frame)
			return -1;
	}
	return 0;
}

static void useonce_array_exit(void)
{
	for (int i = 0; i < 2; i++)
		kfree(rings[i].frame);
}

static void append(struct ring *r, u32 pfn)
{
	r->frame[r->tail % size] = pfn;
	own(pfn_page(pfn))->at = r->tail++;
}

/* Moves every page to the end, in order. There are at most as many pages as half of the ring. */
static void close_holes(struct ring *r)
{
	for (u32 end = r->tail; r->head != end; r->head++) {
		u32 pfn = r->frame[r->head % size];

		r->frame[r->head % size] = HOLE;
		if (pfn != HOLE)
			append(r, pfn);
	}
}

static void enter(struct page *page, bool active)
{
	struct ring *r = &rings[active];

	own(page)->active = active;
	if (r->tail - r->head >= size - max_pfn)
		close_holes(r);
	append(r, page_pfn(page));
	r->nr++;
}

static void leave(struct page *page)
{
	ring_of(page)->frame[own(page)->at % size] = HOLE;
	ring_of(page)->nr--;
}

static struct page *oldest(struct ring *r)
{
	while (r->frame[r->head % size] == HOLE)
		r->head++;
	return pfn_page(r->frame[r->head % size]);
}

static void used(struct page *page)
{
	bool proved = !own(page)->active && own(page)->referenced;

	own(page)->referenced = !proved;
	if (!proved)
		return;
	leave(page);
	enter(page, true);
}

static void useonce_array_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
				 struct page_id from)
{
	(void)mm, (void)how, (void)from;
	own(page)->referenced = false;
	enter(page, false);
}

static void useonce_array_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_DONTNEED)
		own(page)->referenced = false;
	else
		used(page);
}

static void useonce_array_remove(struct page *page, enum vm_out why)
{
	(void)why;
	leave(page);
}

static void age(struct vm_scan *scan)
{
	for (u32 left = scan->priority ? 24 : rings[1].nr; left && rings[1].nr; left--) {
		struct page *page;
		bool stays;

		if (scan->priority && rings[0].nr >= rings[1].nr)
			return;
		if (!vm_scan_more(scan))
			return;
		page = oldest(&rings[1]);
		stays = page_referenced(page) | own(page)->referenced;
		own(page)->referenced = false;
		leave(page);
		enter(page, stays && scan->priority);
	}
}

static struct page *take(struct vm_scan *scan)
{
	u32 once = rings[0].nr;

	while (rings[0].nr && vm_scan_more(scan)) {
		struct page *page = oldest(&rings[0]);
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

static struct page *useonce_array_select(struct vm_scan *scan)
{
	struct page *page;

	do {
		age(scan);
		page = take(scan);
	} while (!page && rings[1].nr && vm_scan_more(scan));
	return page;
}

static void useonce_array_putback(struct page *page, enum vm_put why)
{
	own(page)->referenced = false;
	enter(page, why == VM_PUT_USED);
}

static int useonce_array_check(void)
{
	return rings[0].nr + rings[1].nr;
}

static const struct vm_policy useonce_array = {
	.name = "useonce_array",
	.summary = "use-once in rings of frame numbers",
	.init = useonce_array_init,
	.exit = useonce_array_exit,
	.insert = useonce_array_insert,
	.touch = useonce_array_touch,
	.remove = useonce_array_remove,
	.select = useonce_array_select,
	.putback = useonce_array_putback,
	.check = useonce_array_check,
};
VM_POLICY(useonce_array);
