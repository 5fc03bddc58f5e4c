/*
 * Linux 2.4 up to 2.4.9: page ages on an active list, and two inactive lists that separate writing
 * pages from choosing them.
 *
 * Ages distinguish pages that are used again and again from pages used once by chance. But a page
 * that must be written cannot be freed at the moment when its age becomes 0, only later; and while
 * it waits, a use should still be able to save it. So there are three lists, and pages move down
 * them:
 *
 *	active          has an age: 2 at first; a scan that finds the page used adds 3, to
 *	                at most 64, else halves it; at 0 the page is deactivated
 *	inactive dirty  must be written; the oldest are written in batches (laundered)
 *	inactive clean  can be evicted at once, oldest first
 *
 * A page that is found used on an inactive list goes back to the active one. An age falls by halves
 * but rises by steps, so even the hottest page is old after seven looks that found it unused.
 *
 * The target number of inactive pages follows the demand: the number of pages wanted per second,
 * averaged over the last 64 seconds, but at most a quarter of memory (inactive_target). So a page
 * stays inactive for about a second, in which a use can still save it. In addition, 1/64 of the
 * active pages is aged every second, with or without demand.
 *
 * Differences from Linux. Linux 2.4 walks through the processes' address spaces as 2.0 does
 * (swap_out), because it cannot find the mappings of a page. Here page_referenced reads the bits of
 * all mappings, and the active list's scan does both jobs, as it did in R. van Riel's later rmap
 * patches. Here a page that is clean when it is deactivated goes to the clean list at once; in
 * Linux, page_launder moves it there from the dirty one. In Linux each zone has a clean list of its
 * own. Left out: use-once (2.4.8: a page that is read begins inactive), the balance between the
 * caches, and waiting for writes at the end. At priority 0 a dirty page is written and evicted at
 * once; when the budget is spent, the page with the lowest age among those looked at is evicted.
 *
 * Linux 2.4.5, mm/vmscan.c (reclaim_page, page_launder, refill_inactive_scan) and mm/swap.c. R. van
 * Riel, "Page replacement in Linux 2.4 memory management", USENIX Annual Technical Conference
 * (FREENIX), 2001.
 */
#include "mm/policy.h"

enum list { ACTIVE, DIRTY, CLEAN, NR_LISTS };
enum { AGE_START = 2, AGE_ADVANCE = 3, AGE_MAX = 64 };

#define LAUNDER_BATCH 32 /* MAX_LAUNDER on machines with 16 to 32 MiB: 4 << page_cluster */
#define PRESSURE_SHIFT 6 /* averages over 64 seconds */

struct linux24_page {
	struct list_head node;
	u8 list, age;
	bool used; /* a use that the accessed bit does not show */
};
POLICY_PAGE_FITS(struct linux24_page);

/* One select: its scan, and the eligible page with the lowest age among those that stayed. */
struct search {
	struct vm_scan *scan;
	struct page *oldest;
};

static struct list_head list[NR_LISTS]; /* oldest first */
static u32 nr[NR_LISTS];
static u32 pressure;     /* decaying count of pages wanted: 64 times the average per second */
static u32 nr_laundered; /* since select last ended a pass so that its writes complete */
static u64 nr_activated, nr_deactivated, nr_written;

static struct linux24_page *linux24_data(struct page *page)
{
	return policy_page(page);
}

static struct page *first(enum list l)
{
	return policy_page_of(list_first_entry(&list[l], struct linux24_page, node));
}

static void enlist(struct page *page, enum list l)
{
	linux24_data(page)->list = l;
	list_add_tail(&linux24_data(page)->node, &list[l]);
	nr[l]++;
}

static void delist(struct page *page)
{
	list_del(&linux24_data(page)->node);
	nr[linux24_data(page)->list]--;
}

static void move(struct page *page, enum list l)
{
	delist(page);
	enlist(page, l);
}

static int linux24_init(void)
{
	for (int l = 0; l < NR_LISTS; l++) {
		INIT_LIST_HEAD(&list[l]);
		nr[l] = 0;
	}
	pressure = nr_laundered = 0;
	nr_activated = nr_deactivated = nr_written = 0;
	return 0;
}

static void linux24_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			   struct page_id from)
{
	(void)mm, (void)from;
	linux24_data(page)->used = false;
	linux24_data(page)->age = AGE_START;
	enlist(page, ACTIVE);
	if (how != VM_IN_ADOPT && how != VM_IN_CLAIM)
		pressure++;
}

static void deactivate(struct page *page)
{
	linux24_data(page)->age = 0;
	move(page, page_dirty(page) ? DIRTY : CLEAN);
	nr_deactivated++;
}

static void linux24_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	linux24_data(page)->used = how != VM_TOUCH_DONTNEED;
	if (how == VM_TOUCH_DONTNEED) {
		page_referenced(page);
		deactivate(page);
	}
}

static void linux24_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static bool test_and_clear_used(struct page *page)
{
	bool used = page_referenced(page) || linux24_data(page)->used;

	linux24_data(page)->used = false;
	return used;
}

static void note(struct search *s, struct page *page)
{
	if (!s->oldest || linux24_data(page)->age < linux24_data(s->oldest)->age)
		s->oldest = page;
}

/* Returns the first unused page of an inactive list; moves used ones to the active list. */
static struct page *first_unused(struct search *s, enum list l)
{
	for (u32 left = nr[l]; left && vm_scan_more(s->scan); left--) {
		struct page *page = first(l);

		if (!vm_eligible(s->scan, page)) {
			move(page, l);
		} else if (test_and_clear_used(page)) {
			linux24_data(page)->age = AGE_ADVANCE;
			move(page, ACTIVE);
			nr_activated++;
			note(s, page);
		} else {
			return page;
		}
	}
	return NULL;
}

/* Returns a clean page to evict. Moves pages that have become dirty to the dirty list. */
static struct page *reclaim_page(struct search *s)
{
	struct page *page;

	while ((page = first_unused(s, CLEAN))) {
		if (!page_dirty(page))
			return page;
		move(page, DIRTY);
		note(s, page);
	}
	return NULL;
}

/* Returns a page to write. A page that has become clean, or any at priority 0, is to be evicted. */
static struct page *page_launder(struct search *s)
{
	struct page *page = first_unused(s, DIRTY);

	if (page && page_dirty(page) && s->scan->priority) {
		s->scan->act = VM_LAUNDER;
		nr_laundered++;
		nr_written++;
	}
	return page;
}

/* Ages the oldest active page. Returns true if it was deactivated. */
static bool age(struct page *page)
{
	struct linux24_page *p = linux24_data(page);

	if (test_and_clear_used(page))
		p->age = MIN(p->age + AGE_ADVANCE, AGE_MAX);
	else
		p->age /= 2;
	if (!p->age)
		deactivate(page);
	else
		move(page, ACTIVE);
	return !p->age;
}

/* Deactivates up to `wanted` pages in one pass over the list. Returns true if it deactivated any. */
static bool refill_inactive(struct search *s, u32 wanted)
{
	u32 found = 0;

	for (u32 left = nr[ACTIVE]; left && found < wanted && vm_scan_more(s->scan); left--) {
		struct page *page = first(ACTIVE);

		if (!vm_eligible(s->scan, page)) {
			move(page, ACTIVE);
			continue;
		}
		found += age(page);
		note(s, page);
	}
	return found;
}

static u32 inactive_target(void)
{
	return MIN(pressure >> PRESSURE_SHIFT, vm_frames() / 4);
}

/* Returns NULL after a batch, and when there is nothing left to launder: the pass and its writes
 * end. */
static struct page *find_page(struct search *s)
{
	u32 inactive = nr[DIRTY] + nr[CLEAN], target = inactive_target();
	struct page *page;

	if (inactive < target)
		refill_inactive(s, target - inactive);
	do {
		page = reclaim_page(s);
		if (!page && (nr_laundered < LAUNDER_BATCH || !s->scan->priority))
			page = page_launder(s);
		if (!page && nr_laundered && s->scan->priority) {
			nr_laundered = 0;
			return NULL;
		}
	} while (!page && refill_inactive(s, 1));
	return page;
}

static struct page *linux24_select(struct vm_scan *scan)
{
	struct search s = { .scan = scan };
	struct page *page = find_page(&s);

	if (!page && !scan->priority)
		page = s.oldest;
	if (page)
		delist(page);
	return page;
}

static void linux24_putback(struct page *page, enum vm_put why)
{
	linux24_data(page)->used = why == VM_PUT_USED;
	enlist(page, page_dirty(page) ? DIRTY : CLEAN);
}

/* Called every second. */
static bool linux24_tick(void)
{
	pressure -= pressure >> PRESSURE_SHIFT;
	for (u32 left = nr[ACTIVE] >> PRESSURE_SHIFT; left; left--)
		age(first(ACTIVE));
	return false;
}

static int linux24_check(void)
{
	int sum = 0;

	for (int l = 0; l < NR_LISTS; l++) {
		if (vm_list_length(&list[l]) != (int)nr[l])
			return -1;
		sum += nr[l];
	}
	return sum;
}

static void linux24_show(struct seq_file *m)
{
	show_u64(m, "active", nr[ACTIVE]);
	show_u64(m, "inactive_dirty", nr[DIRTY]);
	show_u64(m, "inactive_clean", nr[CLEAN]);
	show_u64(m, "inactive_target", inactive_target());
	show_u64(m, "activated", nr_activated);
	show_u64(m, "deactivated", nr_deactivated);
	show_u64(m, "laundered", nr_written);
}

static const struct vm_policy linux24 = {
	.name = "linux24",
	.summary = "Linux 2.4: page ages, and pages are laundered before they are evicted",
	.tick_ms = 1000,
	.init = linux24_init,
	.insert = linux24_insert,
	.touch = linux24_touch,
	.remove = linux24_remove,
	.select = linux24_select,
	.putback = linux24_putback,
	.tick = linux24_tick,
	.check = linux24_check,
	.show = linux24_show,
};
VM_POLICY(linux24);
