/*
 * Aging: a cheap approximation of LRU with an eight-bit counter for each page.
 *
 * True LRU must see every use. A kernel has one accessed bit for each page, and sees only whether
 * the page was used since the kernel last looked. So at every tick aging looks at all pages: it
 * shifts each counter right by one, puts the accessed bit into the leftmost bit, and clears the
 * accessed bit. The page with the smallest counter is evicted.
 *
 *	tick:              1         2         3         4         5
 *	page A, used in    x         x                             x
 *	its counter     10000000  11000000  01100000  00110000  10011000
 *	page B, used in                        x         x
 *	its counter     00000000  00000000  10000000  11000000  01100000     evict B
 *
 * Read as a number, a counter says first how long ago the last use was, and then how regular the
 * uses before it were. Two things separate aging from LRU. Of two pages used in the same interval,
 * it cannot tell which was used later. And it has a horizon: after eight ticks without a use every
 * counter is 0, however old the last use is. Of pages with equal counters, the one inserted first
 * is evicted. So the interval must suit the program: if a program uses many times the size of
 * memory in each interval, aging is FIFO behind the pages that were popular before the last tick.
 * The book has 20 ms: a page that was not used for 160 ms is unimportant.
 *
 * With aging.lfu=1 the accessed bit is added to the counter, and nothing is shifted: NFU, not
 * frequently used, which is LFU as far as accessed bits allow. It counts ticks with a use in them,
 * not uses, and saturates at 255. It never forgets: pages popular in the last phase occupy the
 * memory that this phase needs, and a new page has the smallest counter of all and is often the
 * next to be evicted. Aging is NFU that forgets.
 *
 * The access that faults the page in does not set its accessed bit. With aging the page begins as
 * if it had; otherwise the newest page would always be the victim. With NFU the counter begins at
 * 0.
 *
 * Pages with equal counters are on one list, so select need not search. A tick goes over all pages
 * in order of insertion, some at each call, and puts each at the tail of its new list: so all lists
 * are in that order, too.
 *
 * A. Tanenbaum, "Modern Operating Systems", 4th edition, Pearson 2015, section 3.4.7: "Simulating
 * LRU in software".
 */
#include "mm/policy.h"

enum { USED = 0x80, MAX_COUNTER = 0xff };

#define PIECE 1024 /* upper bound on pages that one call of tick looks at */

struct aging_page {
	struct list_head all, equals;
	u8 counter;
	u8 round;  /* of ticks: the round of its insertion or of the last look at it */
	bool used; /* used since the last look, reported by touch() */
};
POLICY_PAGE_FITS(struct aging_page);

static u32 lfu;
static LIST_HEAD(pages); /* in order of insertion */
static struct list_head equals[MAX_COUNTER + 1];
static u32 lowest; /* lower bound on all counters: the lists below this one are empty */
static struct list_head *next_page; /* the page the tick looks at next; &pages: the tick is over */
static u8 round;
static u32 nr;
static u64 nr_ticks;

static const struct vm_param aging_params[] = {
	{ "lfu", &lfu, 0, 1, NULL, "1: counters add and never forget; 0: they are shifted" },
	{ 0 },
};

static struct aging_page *aging_data(struct page *page)
{
	return policy_page(page);
}

static int aging_init(void)
{
	INIT_LIST_HEAD(&pages);
	for (u32 i = 0; i <= MAX_COUNTER; i++)
		INIT_LIST_HEAD(&equals[i]);
	next_page = &pages;
	nr = round = lowest = 0;
	nr_ticks = 0;
	return 0;
}

static void enlist(struct aging_page *p)
{
	p->round = round;
	lowest = MIN(lowest, (u32)p->counter);
	list_add_tail(&p->all, &pages);
	list_add_tail(&p->equals, &equals[p->counter]);
	nr++;
}

static void delist(struct aging_page *p)
{
	if (next_page == &p->all)
		next_page = next_page->next;
	list_del(&p->all);
	list_del(&p->equals);
	nr--;
}

static void set_counter(struct aging_page *p, u32 counter)
{
	p->counter = counter;
	p->used = false;
	lowest = MIN(lowest, counter);
	list_move_tail(&p->equals, &equals[counter]);
}

static void aging_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	(void)mm, (void)how, (void)from;
	aging_data(page)->counter = lfu ? 0 : USED;
	enlist(aging_data(page));
}

static void aging_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how != VM_TOUCH_DONTNEED) {
		aging_data(page)->used = true;
		return;
	}
	page_referenced(page);
	set_counter(aging_data(page), 0);
}

static void aging_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(aging_data(page));
}

/* Takes the first page of one counter that the scan may take; puts the others at the tail. */
static struct page *take(struct list_head *list, struct vm_scan *scan)
{
	struct list_head *last = list->prev, *at = list;

	while (at != last && vm_scan_more(scan)) {
		struct aging_page *p = list_first_entry(list, struct aging_page, equals);

		at = &p->equals;
		if (vm_eligible(scan, policy_page_of(p))) {
			delist(p);
			return policy_page_of(p);
		}
		list_move_tail(at, list);
	}
	return NULL;
}

static struct page *aging_select(struct vm_scan *scan)
{
	struct page *page = NULL;

	while (lowest < MAX_COUNTER && list_empty(&equals[lowest]))
		lowest++;
	for (u32 i = lowest; !page && i <= MAX_COUNTER; i++)
		page = take(&equals[i], scan);
	return page;
}

static void aging_putback(struct page *page, enum vm_put why)
{
	aging_data(page)->used = why == VM_PUT_USED;
	enlist(aging_data(page));
}

static void look_at(struct aging_page *p)
{
	bool used = page_referenced(policy_page_of(p)) || p->used;

	p->round = round;
	if (lfu)
		set_counter(p, MIN((u32)p->counter + used, (u32)MAX_COUNTER));
	else
		set_counter(p, p->counter >> 1 | used * USED);
}

/* Pages inserted during the tick are at the end of the list, and are not looked at. */
static bool aging_tick(void)
{
	if (next_page == &pages) {
		round++;
		next_page = pages.next;
	}
	for (u32 left = PIECE; left && next_page != &pages; left--) {
		struct aging_page *p = list_entry(next_page, struct aging_page, all);

		next_page = p->round == round ? &pages : next_page->next;
		if (p->round != round)
			look_at(p);
	}
	nr_ticks += next_page == &pages;
	return next_page != &pages;
}

static int aging_check(void)
{
	u32 sum = 0;

	for (u32 i = 0; i <= MAX_COUNTER; i++) {
		int length = vm_list_length(&equals[i]);

		if (length < 0)
			return -1;
		sum += length;
	}
	return sum == nr && vm_list_length(&pages) == (int)nr ? (int)nr : -1;
}

static u64 count(u32 from, u32 to)
{
	u64 sum = 0;

	for (u32 i = from; i <= to; i++)
		sum += vm_list_length(&equals[i]);
	return sum;
}

static void aging_show(struct seq_file *m)
{
	show_u64(m, "counter_0", count(0, 0));
	show_u64(m, "counter_1_to_127", count(1, USED - 1));
	show_u64(m, "counter_128_up", count(USED, MAX_COUNTER));
	show_u64(m, "ticks", nr_ticks);
}

static const struct vm_policy aging = {
	.name = "aging",
	.summary = "shift counters: evicts the page used least recently",
	.tick_ms = 20,
	.params = aging_params,
	.init = aging_init,
	.insert = aging_insert,
	.touch = aging_touch,
	.remove = aging_remove,
	.select = aging_select,
	.putback = aging_putback,
	.tick = aging_tick,
	.check = aging_check,
	.show = aging_show,
};
VM_POLICY(aging);
