/*
 * Sampled LRU: of a few pages drawn at random, and the oldest of those drawn before, evicts the one
 * that has been unused for longest.
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
 * Of what was drawn and not evicted, the oldest pages are kept as candidates for the next time, as
 * the paper proposes and as Redis does since 3.0. Without them the last old pages are found by
 * chance only: of 100 pages of which 10 are old, five draws miss all old ones in 58 of 100 cases,
 * and a page in use is evicted.
 *
 * lru.sample is the number of pages drawn, lru.kept that of the candidates kept. 1 and 0 are
 * random.c; the larger they are, the closer to LRU. Of equally old pages, the first one drawn is
 * evicted, and a drawn one before a kept one. A page may be drawn twice.
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
#define MAX_KEPT 32u

struct lru_page {
	struct bag_node node;
	bool kept;   /* is in kept[] */
	u64 seen_ns; /* last time seen used, in machine time */
};
POLICY_PAGE_FITS(struct lru_page);

static u32 sample = 16, max_kept = 16, seed = 1;
static struct bag pages;
static struct lru_page *kept[MAX_KEPT]; /* the oldest pages drawn and not evicted, in order */
static u32 nr_kept;
static u64 nr_drawn, nr_used, nr_in_vain;

static const struct vm_param lru_params[] = {
	{ "sample", &sample, 1, DRAWS, "pages",
	  "pages drawn at random; the one unused for longest is evicted" },
	{ "kept", &max_kept, 0, MAX_KEPT, "pages",
	  "oldest pages of earlier draws that stay candidates (0: none)" },
	{ "seed", &seed, 0, UINT32_MAX, NULL, "seed of the random draws" },
	{ 0 },
};

static struct lru_page *lru_data(struct page *page)
{
	return policy_page(page);
}

static int lru_init(void)
{
	pages = (struct bag){ 0 };
	nr_kept = 0;
	nr_drawn = nr_used = nr_in_vain = 0;
	return 0;
}

static void lru_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	(void)mm, (void)how, (void)from;
	lru_data(page)->seen_ns = vm_now();
	bag_add(&pages, &lru_data(page)->node);
}

static void stop_keeping(struct lru_page *p)
{
	u32 at = 0;

	if (!p->kept)
		return;
	while (kept[at] != p)
		at++;
	for (nr_kept--; at < nr_kept; at++)
		kept[at] = kept[at + 1];
	p->kept = false;
}

/* The page was used: it is no longer among the oldest. */
static void note_use(struct lru_page *p, u64 now)
{
	p->seen_ns = now;
	stop_keeping(p);
}

static void lru_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_DONTNEED)
		page_referenced(page);
	note_use(lru_data(page), how == VM_TOUCH_DONTNEED ? 0 : vm_now());
}

static void take_out(struct lru_page *p)
{
	stop_keeping(p);
	bag_remove(&pages, &p->node);
}

static void lru_remove(struct page *page, enum vm_out why)
{
	(void)why;
	take_out(lru_data(page));
}

static struct lru_page *numbered(u32 number)
{
	return container_of(*bag_place(&pages, number), struct lru_page, node);
}

/* Tests and clears the accessed bit. */
static bool used(struct lru_page *p, u64 now)
{
	if (!page_referenced(policy_page_of(p)))
		return false;
	note_use(p, now);
	nr_used++;
	return true;
}

/* Keeps the page for the next time if it is among the oldest. Of equally old ones, the first stays. */
static void keep(struct lru_page *p)
{
	u32 at;

	while (nr_kept > max_kept)
		stop_keeping(kept[nr_kept - 1]);
	if (p->kept || !max_kept)
		return;
	if (nr_kept == max_kept) {
		if (p->seen_ns >= kept[nr_kept - 1]->seen_ns)
			return;
		stop_keeping(kept[nr_kept - 1]);
	}
	for (at = nr_kept++; at && kept[at - 1]->seen_ns > p->seen_ns; at--)
		kept[at] = kept[at - 1];
	kept[at] = p;
	p->kept = true;
}

/* Returns the oldest of `sample` pages drawn, or NULL if the scan may not take any. */
static struct lru_page *draw_oldest(struct vm_scan *scan, u64 now)
{
	struct lru_page *oldest = NULL;
	u32 number = 0, candidates = 0;

	for (u32 tries = 0; pages.nr && candidates < sample; tries++) {
		struct lru_page *p;

		if ((tries >= DRAWS && oldest) || !vm_scan_more(scan))
			break;
		number = tries < DRAWS ? bag_draw(&pages, seed) : number % pages.nr + 1;
		p = numbered(number);
		if (!vm_eligible(scan, policy_page_of(p))) {
			nr_in_vain++;
			continue;
		}
		candidates++;
		used(p, now);
		keep(p);
		if (!oldest || p->seen_ns < oldest->seen_ns)
			oldest = p;
	}
	nr_drawn += candidates;
	return oldest;
}

/* Returns the oldest of the kept pages that is older than this one, and unused; otherwise this one. */
static struct lru_page *older_kept(struct vm_scan *scan, struct lru_page *oldest, u64 now)
{
	u32 at = 0;

	while (at < nr_kept && kept[at]->seen_ns < oldest->seen_ns) {
		struct lru_page *p = kept[at];

		if (!vm_scan_more(scan))
			break;
		if (!vm_eligible(scan, policy_page_of(p)))
			at++;
		else if (!used(p, now)) /* a used one leaves kept[] */
			return p;
	}
	return oldest;
}

static struct page *lru_select(struct vm_scan *scan)
{
	u64 now = vm_now();
	struct lru_page *oldest = draw_oldest(scan, now);

	if (!oldest)
		return NULL;
	oldest = older_kept(scan, oldest, now);
	take_out(oldest);
	return policy_page_of(oldest);
}

static void lru_putback(struct page *page, enum vm_put why)
{
	if (why == VM_PUT_USED)
		lru_data(page)->seen_ns = vm_now();
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
