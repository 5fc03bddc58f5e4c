/*
 * LRU-K, with K = 2: evicts the page whose use before the last one is longest ago.
 *
 * LRU knows only the last use of a page. So a page that is used once, a record of a large table,
 * pushes out a page that is used again and again, a page of the table's index. Two uses show how
 * often a page is used: the time since the K-th last use is its backward K-distance, and the page
 * with the largest distance is evicted. Pages with fewer than K known uses have an infinite
 * distance and are evicted first, among them the one whose last use is longest ago.
 *
 *	inserted ---> recent ---> few: fewer than K known uses, in the order of the last use
 *	or used         |  ^            first page: evicted first
 *	                |  |
 *	                v  | used
 *	              ranked: a tree by the K-th last use; its least page is evicted if `few` has none
 *
 * Correlated uses. A program often uses a page several times at once, and then not for long. Such
 * uses count as one. A page that is used is `recent` for correlated_ms: it is not evicted, and uses
 * in this period do not count. The period also ends when `recent` has more than an eighth of the
 * frames, which the paper does not say: with fast disks all pages would be recent.
 *
 * Retained information. A page that is evicted after each use would have one known use for ever. So
 * the time of its last use is kept for retained_ms, in a ghost: if the page comes back, that is its
 * second last use. There are at most as many ghosts as frames; the oldest is dropped first. K is at
 * most 2, because a page has 24 bytes for its node and its times, and a ghost has one number.
 *
 * Accessed bits. The paper sees each use. Here a bit says that a page was used since the policy last
 * looked, and the policy looks at two moments: at the end of the period, when it clears the bit, and
 * when the page would be evicted. If the bit is set then, the page was used since the end of the
 * period: it counts as one use, now. No tick looks at all pages. What is lost: all uses between two
 * looks are one use, and its time is that of the look, which is too late. So a page is taken for
 * younger than it is, never for older, and a page whose distance is finite is not looked at while
 * `few` has a page to evict. Uses that the core sees itself (read, write, minor faults) are exact.
 * With k=1 and correlated_ms=0, only the order of looks remains, and lruk is clock.
 *
 * The cost. Pages of `few` come in the order of their last use, so a list is enough. The tree takes
 * a logarithm of its size for each page that enters or leaves it. Pages that the scan may not take
 * go to the end of `few`, but are passed over in the tree, at the expense of the scan's budget. At
 * priority 0 accessed bits do not count: each page is looked at once.
 *
 * Not in the paper: a page that is read ahead has no known use until a process claims it. DONTNEED
 * puts a page at the front of `few`, without known uses. A page that the core gives back counts as
 * used. A new value of k takes effect for a page when it next leaves `recent`.
 *
 * E. O'Neil, P. O'Neil and G. Weikum, "The LRU-K page replacement algorithm for database disk
 * buffering", SIGMOD 1993.
 */
#include "lib/rbtree.h"
#include "mm/ghost.h"
#include "mm/policy.h"

enum lruk_place { RECENT, FEW, RANKED, NR_PLACES };

struct lruk_page {
	union {
		struct list_head node; /* on `recent` or on `few` */
		struct rb_node ranked;
	};
	u32 last_ms, before_ms; /* times of the last known use and of the one before; they wrap */
	u8 place;
	u8 uses; /* known uses, at most 2; 0: not used since it was read ahead */
};
POLICY_PAGE_FITS(struct lruk_page);

static u32 k = 2, correlated_ms = 10, retained_ms = 200000;
static LIST_HEAD(recent); /* both lists: longest ago first */
static LIST_HEAD(few);
static struct rb_root ranked;
static u32 nr[NR_PLACES];
static LIST_HEAD(ghost_queue); /* evicted first is first */
static struct ghosts ghosts;
static u64 nr_seen_used, nr_remembered;

static const struct vm_param lruk_params[] = {
	{ "k", &k, 1, 2, NULL, "the use that counts: 1 the last one, 2 the one before" },
	{ "correlated_ms", &correlated_ms, 0, 60000, "ms",
	  "uses within this time of a counted use do not count" },
	{ "retained_ms", &retained_ms, 0, 3600000, "ms",
	  "time for which the last use of an evicted page is known" },
	{ 0 },
};

static struct lruk_page *lruk_data(struct page *page)
{
	return policy_page(page);
}

/* In units of 2^20 ns, which is almost a millisecond: no division needed. */
static u32 now_ms(void)
{
	return vm_now() >> 20;
}

static int lruk_init(void)
{
	INIT_LIST_HEAD(&recent);
	INIT_LIST_HEAD(&few);
	INIT_LIST_HEAD(&ghost_queue);
	ranked = RB_ROOT;
	for (int i = 0; i < NR_PLACES; i++)
		nr[i] = 0;
	nr_seen_used = nr_remembered = 0;
	return ghosts_init(&ghosts, max_pfn);
}

static void lruk_exit(void)
{
	ghosts_exit(&ghosts);
}

/* Puts the page into the tree, after all pages whose second last use is not later. */
static void rank(struct lruk_page *p)
{
	struct rb_node **link = &ranked.rb_node, *parent = NULL;

	while (*link) {
		struct lruk_page *q = rb_entry(*link, struct lruk_page, ranked);
		bool before = (s32)(p->before_ms - q->before_ms) < 0;

		parent = *link;
		link = before ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&p->ranked, parent, link);
	rb_insert_color(&p->ranked, &ranked);
}

/* Puts the page where its K-distance belongs. */
static void place(struct lruk_page *p)
{
	p->place = k == 2 && p->uses == 2 ? RANKED : FEW;
	nr[p->place]++;
	if (p->place == RANKED)
		rank(p);
	else
		list_add_tail(&p->node, &few);
}

static void take_off(struct lruk_page *p)
{
	nr[p->place]--;
	if (p->place == RANKED)
		rb_erase(&p->ranked, &ranked);
	else
		list_del(&p->node);
}

/* Ends the periods of up to two pages. Uses in the period do not count: clears their bits. */
static void end_periods(u32 now)
{
	u32 most = vm_frames() / 8;

	for (int i = 0; i < 2 && nr[RECENT]; i++) {
		struct lruk_page *p = list_first_entry(&recent, struct lruk_page, node);

		if (nr[RECENT] <= most && now - p->last_ms < correlated_ms)
			return;
		take_off(p);
		page_referenced(policy_page_of(p));
		place(p);
	}
}

static void begin_period(struct lruk_page *p, u32 now)
{
	if (correlated_ms) {
		p->place = RECENT;
		list_add_tail(&p->node, &recent);
		nr[RECENT]++;
	} else {
		place(p);
	}
	end_periods(now);
}

/* Counts a use of a page that is in no place. */
static void count_use(struct lruk_page *p, u32 now)
{
	p->before_ms = p->last_ms;
	p->last_ms = now;
	p->uses = MIN(p->uses + 1, 2);
	begin_period(p, now);
}

/* A new page takes over the last use that its ghost knows. That is not a correlated use, however short the time: the page
 * had to be read again. */
static void recall(struct lruk_page *p, struct page_id id)
{
	struct ghost *ghost = ghost_find(&ghosts, id);
	u32 age = ghost ? p->last_ms - ghost->data : 0;

	if (ghost && age <= retained_ms) {
		p->before_ms = ghost->data;
		p->uses = 2;
		nr_remembered++;
	}
	if (ghost)
		ghost_drop(&ghosts, ghost);
}

static void lruk_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	struct lruk_page *p = lruk_data(page);

	(void)mm;
	p->last_ms = now_ms();
	p->uses = how != VM_IN_PREFETCH;
	if (p->uses)
		recall(p, how == VM_IN_CLAIM ? page_id_of(page) : from);
	begin_period(p, p->last_ms);
}

static void lruk_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct lruk_page *p = lruk_data(page);

	(void)mm;
	if (how == VM_TOUCH_DONTNEED) {
		page_referenced(page);
		take_off(p);
		p->uses = 0;
		place(p);
		list_move(&p->node, &few);
	} else if (p->place != RECENT) {
		take_off(p);
		count_use(p, now_ms());
	}
}

static void lruk_remove(struct page *page, enum vm_out why)
{
	(void)why;
	take_off(lruk_data(page));
}

/* Was the page used since the last look? Then counts the use. */
static bool spared(struct lruk_page *p, const struct vm_scan *scan)
{
	if (!scan->priority || !page_referenced(policy_page_of(p)))
		return false;
	nr_seen_used++;
	take_off(p);
	count_use(p, now_ms());
	return true;
}

/* Returns the eligible page with the largest K-distance, used or not; NULL if there is none. */
static struct lruk_page *candidate(struct vm_scan *scan)
{
	for (u32 left = nr[FEW]; left && vm_scan_more(scan); left--) {
		struct lruk_page *p = list_first_entry(&few, struct lruk_page, node);

		if (vm_eligible(scan, policy_page_of(p)))
			return p;
		list_move_tail(&p->node, &few);
	}
	for (struct rb_node *at = rb_first(&ranked); at && vm_scan_more(scan); at = rb_next(at)) {
		struct lruk_page *p = rb_entry(at, struct lruk_page, ranked);

		if (vm_eligible(scan, policy_page_of(p)))
			return p;
	}
	return NULL;
}

/* Called if no other page can be evicted. */
static struct lruk_page *first_recent(struct vm_scan *scan)
{
	struct lruk_page *p;

	list_for_each_entry(p, &recent, node) {
		if (!vm_scan_more(scan))
			break;
		if (vm_eligible(scan, policy_page_of(p)))
			return p;
	}
	return NULL;
}

static struct page *lruk_select(struct vm_scan *scan)
{
	struct lruk_page *p;

	do
		p = candidate(scan);
	while (p && spared(p, scan));
	p = p ?: first_recent(scan);
	if (!p)
		return NULL;
	take_off(p);
	return policy_page_of(p);
}

static void lruk_putback(struct page *page, enum vm_put why)
{
	(void)why;
	count_use(lruk_data(page), now_ms());
}

static bool is_forgotten(const struct ghost *ghost, u32 now)
{
	return now - ghost->data > retained_ms;
}

static void lruk_evicted(struct page *page, struct page_id to)
{
	u32 now = now_ms();
	struct ghost *ghost;

	for (int i = 0; i < 2 && ghosts.nr; i++) {
		ghost = list_first_entry(&ghost_queue, struct ghost, node);
		if (ghosts.nr == ghosts.capacity || is_forgotten(ghost, now))
			ghost_drop(&ghosts, ghost);
	}
	if (k == 1 || !retained_ms || !lruk_data(page)->uses)
		return;
	ghost = ghost_add(&ghosts, to);
	ghost->data = lruk_data(page)->last_ms;
	list_add_tail(&ghost->node, &ghost_queue);
}

static void lruk_forget(struct page_id id)
{
	struct ghost *ghost = ghost_find(&ghosts, id);

	if (ghost)
		ghost_drop(&ghosts, ghost);
}

static u32 count_ranked(void)
{
	u32 n = 0;

	for (struct rb_node *at = rb_first(&ranked); at && n <= nr[RANKED]; at = rb_next(at))
		n++;
	return n;
}

static int lruk_check(void)
{
	if (vm_list_length(&recent) != (int)nr[RECENT] || vm_list_length(&few) != (int)nr[FEW] ||
	    count_ranked() != nr[RANKED])
		return -1;
	return nr[RECENT] + nr[FEW] + nr[RANKED];
}

static void lruk_show(struct seq_file *m)
{
	show_u64(m, "recent", nr[RECENT]);
	show_u64(m, "few", nr[FEW]);
	show_u64(m, "ranked", nr[RANKED]);
	show_u64(m, "ghosts", ghosts.nr);
	show_u64(m, "seen_used", nr_seen_used);
	show_u64(m, "remembered", nr_remembered);
}

static const struct vm_policy lruk = {
	.name = "lruk",
	.summary = "LRU-2: the page whose use before the last one is longest ago goes",
	.params = lruk_params,
	.init = lruk_init,
	.exit = lruk_exit,
	.insert = lruk_insert,
	.touch = lruk_touch,
	.remove = lruk_remove,
	.select = lruk_select,
	.putback = lruk_putback,
	.evicted = lruk_evicted,
	.forget = lruk_forget,
	.check = lruk_check,
	.show = lruk_show,
};
VM_POLICY(lruk);
