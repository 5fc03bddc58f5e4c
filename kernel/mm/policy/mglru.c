/*
 * MGLRU: the multi-generational LRU of Linux 6.1.
 *
 * Two lists, active and inactive, distinguish only "used recently" from "not". MGLRU has up to four
 * lists, the generations, numbered in order of time: max_seq is the youngest, min_seq the oldest.
 * The pages of a generation were last seen in use at about the same time.
 *
 *	min_seq        min_seq + 1    max_seq - 1                max_seq
 *	  evicted        ...            used before the last       brought in by a fault,
 *	  from here                     walk ended                 used since
 *
 * Aging walks over the pages and moves the used ones to the youngest generation. Then it begins a
 * new one (max_seq + 1), and so all others are one generation older. Eviction takes the first page
 * of the oldest generation; if that page is found used, it moves to the youngest. When the oldest
 * is empty, min_seq goes up. From the two youngest nothing is evicted: a page has time to be used
 * again. When only they are left, a walk is due. It begins earlier if there are three and the
 * youngest has more than half of all pages, or the oldest less than a quarter.
 *
 * The walk looks only at areas of memory that are in use: mglru_areas.h.
 *
 * Kinds. Pages of files and anonymous pages have a min_seq each and share max_seq, so that
 * generations of both can be compared: the kind whose oldest generation is older gives up a page. A
 * page that a fault brought in begins in the youngest generation, with the pages read ahead by that
 * fault. A page that a system call read begins in the oldest: it has yet to show that it is used
 * again.
 *
 * Tiers. After N uses by system calls a page is in tier log2(N), rounded up. A use through the
 * owner's mapping counts when that mapping ends. Pages of a protected tier are not evicted but moved
 * to the next generation, where their count begins again at 0. Feedback decides which tiers are
 * protected, and which kind gives up a page if both are equally old: mglru_tiers.h.
 *
 * Differences from Linux. Linux walks through page tables, and around each page that eviction finds
 * used. Here the walk goes over the lists of generations, the youngest first, in pieces: some pages
 * in each select, more when it is due. In Linux one in eight entries of a page table must be used,
 * here one in eight resident pages. Linux also moves a dirty page of a file to the next generation
 * and leaves it to the writeback threads. Left out: memory cgroups, min_ttl_ms, accessed bits of
 * page directories. At priority 0, if half of the budget found no victim, any page is evicted.
 *
 * Linux 6.1 (Yu Zhao, 2022), mm/vmscan.c, include/linux/mm_inline.h,
 * Documentation/mm/multigen_lru.rst.
 */
#include "mglru_areas.h"
#include "mglru_tiers.h"

enum { MIN_GENS = 2, MAX_GENS = 4 };

#define WALK_STEP 64 /* pages of the walk done by each select */

struct generation {
	struct list_head pages; /* next victim first */
	u32 nr;
};

struct mglru_page {
	struct list_head node; /* on the list of its generation */
	struct generation *gen;
	u8 kind;
	u8 refs; /* uses by system calls */
	bool used; /* a use that the accessed bit does not show */
};
POLICY_PAGE_FITS(struct mglru_page);

static struct generation gens[NR_KINDS][MAX_GENS]; /* by sequence number modulo MAX_GENS */
static u32 nr_all;
static u32 max_seq, min_seq[NR_KINDS];
static struct generation *youngest[NR_KINDS], *oldest[NR_KINDS]; /* those of max_seq and min_seq */
static u64 nr_walks, nr_promoted, nr_protected;

static u32 walk_seq; /* generation that the walk is in */
static enum kind walk_kind;
static struct list_head *next_page; /* of the walk; a list head: list done; NULL: no walk */
static bool emptied; /* a generation has become empty, or a new one has begun */

static struct mglru_page *mglru_data(struct page *page)
{
	return policy_page(page);
}

static struct generation *generation(enum kind kind, u32 seq)
{
	return &gens[kind][seq % MAX_GENS];
}

static void find_ends(void)
{
	for (int kind = 0; kind < NR_KINDS; kind++) {
		youngest[kind] = generation(kind, max_seq);
		oldest[kind] = generation(kind, min_seq[kind]);
	}
}

static void enlist(struct mglru_page *p, struct generation *gen)
{
	p->gen = gen;
	list_add_tail(&p->node, &p->gen->pages);
	p->gen->nr++;
}

static void delist(struct mglru_page *p)
{
	if (next_page == &p->node)
		next_page = p->node.next;
	list_del(&p->node);
	if (!--p->gen->nr)
		emptied = true;
}

/* Resets the page's count of uses by system calls. */
static void move(struct mglru_page *p, struct generation *gen)
{
	delist(p);
	enlist(p, gen);
	p->refs = 0;
}

static int mglru_init(void)
{
	for (int kind = 0; kind < NR_KINDS; kind++) {
		for (int gen = 0; gen < MAX_GENS; gen++) {
			INIT_LIST_HEAD(&gens[kind][gen].pages);
			gens[kind][gen].nr = 0;
		}
		min_seq[kind] = 0;
	}
	areas_init();
	max_seq = MIN_GENS + 1;
	find_ends();
	nr_all = 0;
	next_page = NULL;
	emptied = true;
	nr_walks = nr_promoted = nr_protected = 0;
	return tiers_init();
}

static void own(struct mglru_page *p, struct generation *gen)
{
	enlist(p, gen);
	nr_all++;
}

static void disown(struct mglru_page *p)
{
	delist(p);
	nr_all--;
}

static void mglru_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	struct mglru_page *p = mglru_data(page);

	p->kind = page_is_file(page) ? FILES : ANON;
	p->used = false;
	p->refs = how == VM_IN_READ;
	if (tiers_refault(p->kind, min_seq[p->kind], from) && mm)
		p->refs = 2;
	own(p, how == VM_IN_READ ? oldest[FILES] : youngest[p->kind]);
}

static void mglru_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct mglru_page *p = mglru_data(page);

	(void)mm;
	if (how == VM_TOUCH_IO) {
		p->refs = MIN(p->refs + 1, MAX_REFS);
	} else if (how == VM_TOUCH_DONTNEED) {
		page_referenced(page);
		p->used = false;
		move(p, oldest[p->kind]);
	} else {
		p->used = true;
	}
}

static void mglru_remove(struct page *page, enum vm_out why)
{
	(void)why;
	disown(mglru_data(page));
}

static bool test_and_clear_used(struct mglru_page *p)
{
	bool used = page_referenced(policy_page_of(p)) || p->used;

	p->used = false;
	return used;
}

/* When a mapping ends, a use through it counts as one by a system call (zap_pte_range). */
static void mglru_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	struct mglru_page *p = mglru_data(page);
	bool in_cache = page_id_of(page).store > 1; /* a page of a file or of shared memory */

	(void)to;
	if (from && in_cache && test_and_clear_used(p))
		p->refs = MIN(p->refs + 1, MAX_REFS);
}

static void promote(struct mglru_page *p)
{
	if (p->gen == youngest[p->kind])
		return;
	move(p, youngest[p->kind]);
	nr_promoted++;
}

static u32 nr_gens(enum kind kind)
{
	return max_seq - min_seq[kind] + 1;
}

/* Skips empty generations. The oldest anonymous one does not overtake the oldest of files. */
static void inc_min_seq(void)
{
	u32 before[NR_KINDS] = { min_seq[ANON], min_seq[FILES] };

	emptied = false;
	for (int kind = 0; kind < NR_KINDS; kind++)
		while (nr_gens(kind) > MIN_GENS && !generation(kind, min_seq[kind])->nr)
			min_seq[kind]++;
	min_seq[ANON] = MIN(min_seq[ANON], min_seq[FILES]);
	for (int kind = 0; kind < NR_KINDS; kind++)
		if (min_seq[kind] != before[kind])
			tiers_carry_over(kind);
	find_ends();
}

/* Begins a new generation. */
static void end_walk(void)
{
	next_page = NULL;
	max_seq++;
	find_ends();
	nr_walks++;
	emptied = true;
}

static void begin_walk(void)
{
	if (next_page)
		return;
	walk_seq = max_seq;
	walk_kind = ANON;
	next_page = generation(ANON, max_seq)->pages.next;
	if (!areas_begin_walk(!nr_walks))
		end_walk();
}

/* The walk has finished a list: goes to the other kind's list, or to an older generation. */
static void next_list(void)
{
	walk_seq -= walk_kind == FILES;
	walk_kind = !walk_kind;
	if ((int)(walk_seq - min_seq[ANON]) < 0)
		end_walk();
	else
		next_page = generation(walk_kind, walk_seq)->pages.next;
}

static void walk_to(struct mglru_page *p)
{
	struct area *area = area_of(p->kind, policy_page_of(p));

	next_page = p->node.next;
	if (!area->in_use)
		return;
	area->asked++;
	if (test_and_clear_used(p)) {
		area->used++;
		promote(p);
	}
}

/* Continues the walk for this number of pages. */
static void walk(struct vm_scan *scan, u32 pages)
{
	while (next_page) {
		if (next_page == &generation(walk_kind, walk_seq)->pages) {
			next_list();
			continue;
		}
		if (!pages || !vm_scan_more(scan))
			return;
		pages--;
		walk_to(list_entry(next_page, struct mglru_page, node));
	}
}

/* Is it time for a walk, although there are still pages to evict? */
static bool should_run_aging(void)
{
	u32 young = 0, old = 0;

	if (nr_gens(ANON) > MIN_GENS + 1)
		return false;
	for (int kind = 0; kind < NR_KINDS; kind++) {
		young += youngest[kind]->nr;
		old += generation(kind, max_seq - MIN_GENS)->nr;
	}
	return young * MIN_GENS > nr_all || old * (MIN_GENS + 2) < nr_all;
}

static void age(struct vm_scan *scan)
{
	if (emptied)
		inc_min_seq();
	if (!next_page && !should_run_aging())
		return;
	begin_walk();
	walk(scan, WALK_STEP);
	inc_min_seq();
}

/* Returns true if the first page of the oldest generation may be evicted; otherwise moves it. */
static bool sort(struct vm_scan *scan, struct mglru_page *p, u32 tier)
{
	if (!vm_eligible(scan, policy_page_of(p))) {
		move(p, generation(p->kind, min_seq[p->kind] + 1));
	} else if (tier_of(p->refs) > tier) {
		tiers[p->kind][tier_of(p->refs)].total++;
		move(p, generation(p->kind, min_seq[p->kind] + 1));
		nr_protected++;
	} else if (test_and_clear_used(p)) {
		promote(p);
		area_of(p->kind, policy_page_of(p))->used++;
	} else {
		return true;
	}
	return false;
}

/* Returns the oldest generation of a kind, or NULL if it is empty or too young to evict from. */
static struct generation *evictable(enum kind kind)
{
	return nr_gens(kind) > MIN_GENS && oldest[kind]->nr ? oldest[kind] : NULL;
}

/* Returns the generation to evict from, and the last of its tiers that is not protected; or NULL. */
static struct generation *choose_generation(u32 *tier)
{
	enum kind kind = tiers_choose_kind(min_seq[ANON] < min_seq[FILES], tier);
	struct generation *gen = evictable(kind);

	if (gen)
		return gen;
	*tier = last_tier(!kind);
	return evictable(!kind);
}

/* Evicts, and ages when necessary, while the budget is larger than the reserve. */
static struct mglru_page *find_page(struct vm_scan *scan, u32 reserve)
{
	age(scan);
	while (nr_all && scan->budget > reserve) {
		u32 tier;
		struct generation *gen = choose_generation(&tier);

		if (gen) {
			struct mglru_page *p =
				list_first_entry(&gen->pages, struct mglru_page, node);

			vm_scan_more(scan);
			if (sort(scan, p, tier))
				return p;
		} else {
			begin_walk();
			walk(scan, scan->budget - reserve);
		}
		if (emptied)
			inc_min_seq();
	}
	return NULL;
}

/* For priority 0: returns the oldest eligible page. */
static struct mglru_page *any_page(struct vm_scan *scan)
{
	for (u32 seq = min_seq[ANON]; seq <= max_seq; seq++)
		for (int kind = 0; kind < NR_KINDS; kind++) {
			struct mglru_page *p;

			list_for_each_entry(p, &generation(kind, seq)->pages, node) {
				if (!vm_scan_more(scan))
					return NULL;
				if (vm_eligible(scan, policy_page_of(p)))
					return p;
			}
		}
	return NULL;
}

static struct page *mglru_select(struct vm_scan *scan)
{
	struct mglru_page *p = find_page(scan, scan->priority ? 0 : nr_all);

	if (!p && !scan->priority)
		p = any_page(scan);
	if (!p)
		return NULL;
	disown(p);
	return policy_page_of(p);
}

static void mglru_putback(struct page *page, enum vm_put why)
{
	struct mglru_page *p = mglru_data(page);

	p->used = why == VM_PUT_USED;
	own(p, p->used ? youngest[p->kind] : generation(p->kind, min_seq[p->kind] + 1));
}

static void mglru_evicted(struct page *page, struct page_id to)
{
	struct mglru_page *p = mglru_data(page);

	tiers_evicted(p->kind, tier_of(p->refs), min_seq[p->kind], to);
}

static int mglru_check(void)
{
	u32 sum = 0;

	for (int i = 0; i < NR_KINDS * MAX_GENS; i++) {
		struct generation *gen = &gens[i / MAX_GENS][i % MAX_GENS];

		if (vm_list_length(&gen->pages) != (int)gen->nr)
			return -1;
		sum += gen->nr;
	}
	return sum == nr_all ? (int)sum : -1;
}

static void mglru_show(struct seq_file *m)
{
	static const char *const names[NR_KINDS][MAX_GENS] = {
		{ "anon_youngest", "anon_second", "anon_third", "anon_fourth" },
		{ "file_youngest", "file_second", "file_third", "file_fourth" },
	};

	for (int kind = 0; kind < NR_KINDS; kind++)
		for (u32 age = 0; age < MAX_GENS; age++)
			show_u64(m, names[kind][age],
				 age < nr_gens(kind) ? generation(kind, max_seq - age)->nr : 0);
	show_u64(m, "max_seq", max_seq);
	show_u64(m, "walks", nr_walks);
	show_u64(m, "promoted", nr_promoted);
	show_u64(m, "protected", nr_protected);
	show_u64(m, "refaults", nr_refaults);
}

static const struct vm_policy mglru = {
	.name = "mglru",
	.summary = "Linux 6.1: generations of pages, by the last walk that found them used",
	.params = tiers_params,
	.init = mglru_init,
	.exit = tiers_exit,
	.insert = mglru_insert,
	.touch = mglru_touch,
	.remove = mglru_remove,
	.moved = mglru_moved,
	.select = mglru_select,
	.putback = mglru_putback,
	.evicted = mglru_evicted,
	.forget = tiers_forget,
	.check = mglru_check,
	.show = mglru_show,
};
VM_POLICY(mglru);
