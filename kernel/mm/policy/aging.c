/*
 * Aging: a cheap imitation of LRU by a counter of eight bits for each page.
 *
 * True LRU must know of every use. A kernel has one accessed bit for each page, and sees only
 * whether there was a use since it looked last. So at every tick it looks at all pages: each
 * counter is shifted to the right by one, and the accessed bit, which is cleared, comes in at the
 * left. The page with the smallest counter goes.
 *
 *	tick:              1         2         3         4         5
 *	page A, used in    x         x                             x
 *	its counter     10000000  11000000  01100000  00110000  10011000
 *	page B, used in                        x         x
 *	its counter     00000000  00000000  10000000  11000000  01100000     B goes
 *
 * Read as a number, a counter says first how long ago the last use was, and then how regular the
 * uses before it were. Two things separate it from LRU. Of two pages used in the same interval it
 * does not know which one came later. And it has a horizon: after eight ticks without a use all
 * counters are 0, however old the last use is. Of equals the page goes that came first. So the
 * interval must suit the program: with many times memory used in each it is FIFO behind pages that
 * were popular before the last tick. The book has 20 ms: after 160 a page is not important.
 *
 * With aging.lfu=1 the accessed bit is added instead, and nothing is shifted: NFU, not frequently
 * used, which is LFU as far as accessed bits allow. It counts ticks with a use in them, not uses,
 * and up to 255. It never forgets: what was popular in the last phase is in the way of this one,
 * and a page that has just come has the smallest counter of all and is often the next to go.
 * Aging is what one gets when NFU is made to forget.
 *
 * The use that brings a page in is not seen by its accessed bit. With aging the page begins as if
 * it had been, else the newest page would always be the one that goes; with NFU it begins at 0.
 *
 * Pages with the same counter are in one list, so select need not search. A tick goes over all
 * pages in the order in which they came, a piece at a call, and puts each at the tail of its
 * new list: so all lists are in that order, too.
 *
 * A. Tanenbaum, "Modern Operating Systems", 4th edition, Pearson 2015, section 3.4.7: "Simulating
 * LRU in software".
 */
#include "mm/policy.h"

enum { USED = 0x80, MAX_COUNTER = 0xff };

#define PIECE 1024 /* pages that one call of tick may look at */

struct aging_page {
	struct list_head all, equals;
	u8 counter;
	u8 round;  /* of ticks, in which it came or was looked at last */
	bool used; /* since then, and the core told */
};
POLICY_PAGE_FITS(struct aging_page);

static u32 lfu;
static LIST_HEAD(pages); /* in the order in which they came */
static struct list_head equals[MAX_COUNTER + 1];
static u32 lowest; /* counter that a page may have: the lists below are empty */
static struct list_head *next_page; /* of the tick; &pages: none */
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

/* Of the pages with one counter, the first that the scan may have; the others go to the tail. */
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

/* Those that came during the tick are at the end, and are not looked at. */
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
	.summary = "shift counters: the page used least lately goes",
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
