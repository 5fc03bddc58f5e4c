/*
 * Sampled LRU: of a few pages drawn at random, evicts the one that has been unused for longest.
 *
 * Least recently used rests on the classic assumption: a page used recently will be used again
 * soon. A list in order of use would have to be updated at every use, but the kernel does not see
 * the uses; and searching all pages for the oldest takes too long. But the victim need not be the
 * oldest page: an old page will do. So draw some pages and evict the oldest of them. With five, the
 * victim is among the older half 31 times out of 32, and among the oldest tenth two times out of
 * five; and the cost hardly depends on the size of memory.
 *
 *	drawn            A      B      C      D      E
 *	accessed bit     0      1      0      0      1      B and E: used recently, seen now
 *	last seen, ms   310    now    120    450    now     C is evicted
 *
 * A cache that sees every use (Redis, for instance) records the time of each. Here the policy
 * learns that a page was used by finding its accessed bit set, and it reads the bit only when it
 * draws the page. Then it clears the bit and records the time. So the recorded time is not the time
 * of the last use, but that of the last draw that found the bit set; the time at which a page is
 * inserted is recorded as well. A page may be taken for younger than it is, by the time between two
 * draws of it, but never for older. The more pages must be evicted, the more are drawn, and the
 * shorter that time is: the times are accurate when they are needed, and cost nothing when they are
 * not. No tick looks at all pages.
 *
 * (Another algorithm called LRU keeps all pages in order, and at each tick moves the pages found
 * used to the tail. Each tick then costs time for all of memory, and between two ticks the
 * algorithm is FIFO. aging.c and ws.c work like that.)
 *
 * lru.sample is the number of pages drawn. 1 is random.c; the larger it is, the closer to LRU. Of
 * equally old pages, the first one drawn is evicted. A page may be drawn twice. Left out: the
 * runners-up of a sample are not kept for the next one, as the paper proposes and Redis does since
 * 3.0.
 *
 * If DRAWS draws have found no page that the scan may take, the search goes on by number from the
 * last.
 *
 * K. Psounis and B. Prabhakar, "A randomized web-cache replacement scheme", INFOCOM 2001, for any
 * rule of choosing among the drawn pages; Redis (maxmemory-samples) is the best known LRU of this
 * kind.
 */
#include "lib/bag.h"
#include "mm/policy.h"

#define DRAWS 32u
#define LONG_AGO_MS (1u << 30)

struct lru_page {
	struct bag_node node;
	u32 seen_ms; /* last time seen used, in machine time; wraps after 49 days */
};
POLICY_PAGE_FITS(struct lru_page);

static u32 sample = 5, seed = 1;
static struct bag pages;
static u64 nr_drawn, nr_used, nr_in_vain;

static const struct vm_param lru_params[] = {
	{ "sample", &sample, 1, DRAWS, "pages",
	  "pages drawn at random; the one unused for longest is evicted (1: random)" },
	{ "seed", &seed, 0, UINT32_MAX, NULL, "seed of the random draws" },
	{ 0 },
};

static struct lru_page *lru_data(struct page *page)
{
	return policy_page(page);
}

static u32 now_ms(void)
{
	return vm_now() / 1000000;
}

static int lru_init(void)
{
	pages = (struct bag){ 0 };
	nr_drawn = nr_used = nr_in_vain = 0;
	return 0;
}

static void lru_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	(void)mm, (void)how, (void)from;
	lru_data(page)->seen_ms = now_ms();
	bag_add(&pages, &lru_data(page)->node);
}

static void lru_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	lru_data(page)->seen_ms = now_ms();
	if (how == VM_TOUCH_DONTNEED) {
		page_referenced(page);
		lru_data(page)->seen_ms -= LONG_AGO_MS;
	}
}

static void lru_remove(struct page *page, enum vm_out why)
{
	(void)why;
	bag_remove(&pages, &lru_data(page)->node);
}

static struct lru_page *numbered(u32 number)
{
	return container_of(*bag_place(&pages, number), struct lru_page, node);
}

/* Tests and clears the accessed bit. Returns the time for which the page was not seen used. */
static u32 age(struct lru_page *p, u32 now)
{
	if (page_referenced(policy_page_of(p))) {
		p->seen_ms = now;
		nr_used++;
	}
	return now - p->seen_ms;
}

static struct page *lru_select(struct vm_scan *scan)
{
	u32 now = now_ms(), number = 0, candidates = 0, most = 0;
	struct lru_page *oldest = NULL;

	for (u32 tries = 0; pages.nr && candidates < sample; tries++) {
		struct lru_page *p;
		u32 unseen;

		if ((tries >= DRAWS && oldest) || !vm_scan_more(scan))
			break;
		number = tries < DRAWS ? bag_draw(&pages, seed) : number % pages.nr + 1;
		p = numbered(number);
		if (!vm_eligible(scan, policy_page_of(p))) {
			nr_in_vain++;
			continue;
		}
		candidates++;
		unseen = age(p, now);
		if (!oldest || unseen > most) {
			oldest = p;
			most = unseen;
		}
	}
	nr_drawn += candidates;
	if (!oldest)
		return NULL;
	bag_remove(&pages, &oldest->node);
	return policy_page_of(oldest);
}

static void lru_putback(struct page *page, enum vm_put why)
{
	if (why == VM_PUT_USED)
		lru_data(page)->seen_ms = now_ms();
	bag_add(&pages, &lru_data(page)->node);
}

static int lru_check(void)
{
	return bag_check(&pages);
}

static void lru_show(struct seq_file *m)
{
	show_u64(m, "pages", pages.nr);
	show_u64(m, "drawn", nr_drawn);
	show_u64(m, "drawn_used", nr_used);
	show_u64(m, "drawn_in_vain", nr_in_vain);
}

static const struct vm_policy lru = {
	.name = "lru",
	.summary = "sampled LRU: of a few pages drawn at random, the one unused for longest",
	.params = lru_params,
	.init = lru_init,
	.insert = lru_insert,
	.touch = lru_touch,
	.remove = lru_remove,
	.select = lru_select,
	.putback = lru_putback,
	.check = lru_check,
	.show = lru_show,
};
VM_POLICY(lru);
