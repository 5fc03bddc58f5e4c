/*
 * MGLRU: the multi-generational LRU of Linux 6.1.
 *
 * Two lists, active and inactive, know only "used lately" and "not". Here there are up to four, the
 * generations, numbered as time goes by: max_seq is the youngest, min_seq the oldest. The pages of
 * a generation were last seen in use at about the same time.
 *
 *	min_seq        min_seq + 1    max_seq - 1                max_seq
 *	  evicted        ...            used before the last       brought in by a fault,
 *	  from here                     walk ended                 used since
 *
 * Aging walks over all pages and moves those that were used to the youngest generation; then it
 * begins a new one (max_seq + 1), and so everything is one generation older. Eviction takes the
 * first page of the oldest generation; one that is found used there goes to the youngest. When the
 * oldest is empty, min_seq goes up. From the two youngest nothing is evicted: a page has time to be
 * used again. When only they are left, a walk is due. It begins earlier if there are three and the
 * youngest has more than half of all pages, or the oldest less than a quarter.
 *
 * Kinds. Pages of files and anonymous ones have a min_seq each, and one max_seq, so that
 * generations of both can be compared: the kind whose oldest generation is older gives. A page that
 * a fault brought in begins in the youngest generation, with those that it read ahead; one that a
 * system call read, in the oldest: it has yet to show that it is used again. Uses by system calls
 * are counted: after N of them a page is in tier log2(N), rounded up. Pages of tier 1 and above, used
 * at least twice, are not evicted, but moved to the next generation, where their count begins anew.
 *
 * What differs. Linux walks through page tables, and around each page that eviction finds used;
 * here the walk goes round a list of all pages, in pieces: a few in each select, more when it is
 * due. In Linux a PID controller compares how many pages of each tier and kind come back after
 * their eviction, and so decides which tiers are protected and which kind gives when both are
 * equally old. It is left out: all tiers but 0 are protected, and files give first, as with
 * swappiness 1. There a dirty page of a file is moved to the next generation, too, and left to the
 * threads that write back. Left out, too: memory cgroups, Bloom filters, min_ttl_ms. At priority 0,
 * if half of the budget was in vain, any eligible page goes.
 *
 * Linux 6.1 (Yu Zhao, 2022), mm/vmscan.c, include/linux/mm_inline.h,
 * Documentation/mm/multigen_lru.rst.
 */
#include "mm/policy.h"

enum { MIN_GENS = 2, MAX_GENS = 4 };
enum kind { ANON, FILES, NR_KINDS };

#define WALK_STEP 16 /* pages of the walk that each select does */
#define MAX_REFS 8   /* tier 3 is the last */

struct mglru_page {
	struct list_head node; /* of its generation */
	struct list_head walk;
	u8 gen;  /* number of its generation, modulo MAX_GENS */
	u8 kind;
	u8 refs; /* uses by system calls */
	bool used; /* a use that the accessed bit does not show */
};
POLICY_PAGE_FITS(struct mglru_page);

static struct list_head gens[NR_KINDS][MAX_GENS]; /* the next to go comes first */
static u32 nr[NR_KINDS][MAX_GENS];
static struct list_head all; /* those that the walk has not yet reached come first */
static u32 nr_all;
static u32 max_seq, min_seq[NR_KINDS];
static bool walking;
static u32 nr_left; /* pages that the walk has yet to reach, at most */
static u64 nr_walks, nr_promoted, nr_protected;

static struct mglru_page *mglru_data(struct page *page)
{
	return policy_page(page);
}

static struct page *first(const struct list_head *pages)
{
	return policy_page_of(list_first_entry(pages, struct mglru_page, node));
}

static void enlist(struct page *page, u32 seq)
{
	struct mglru_page *p = mglru_data(page);

	p->gen = seq % MAX_GENS;
	p->kind = page_is_file(page) ? FILES : ANON;
	list_add_tail(&p->node, &gens[p->kind][p->gen]);
	nr[p->kind][p->gen]++;
}

static void delist(struct page *page)
{
	list_del(&mglru_data(page)->node);
	nr[mglru_data(page)->kind][mglru_data(page)->gen]--;
}

/* Its count of uses by system calls begins anew. */
static void move(struct page *page, u32 seq)
{
	delist(page);
	enlist(page, seq);
	mglru_data(page)->refs = 0;
}

static int mglru_init(void)
{
	for (int kind = 0; kind < NR_KINDS; kind++) {
		for (int gen = 0; gen < MAX_GENS; gen++) {
			INIT_LIST_HEAD(&gens[kind][gen]);
			nr[kind][gen] = 0;
		}
		min_seq[kind] = 0;
	}
	INIT_LIST_HEAD(&all);
	max_seq = MIN_GENS + 1;
	nr_all = nr_left = 0;
	walking = false;
	nr_walks = nr_promoted = nr_protected = 0;
	return 0;
}

static void own(struct page *page, u32 seq)
{
	enlist(page, seq);
	list_add_tail(&mglru_data(page)->walk, &all);
	nr_all++;
}

static void disown(struct page *page)
{
	delist(page);
	list_del(&mglru_data(page)->walk);
	nr_all--;
	nr_left = MIN(nr_left, nr_all);
}

static void mglru_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	(void)mm, (void)from;
	mglru_data(page)->used = false;
	mglru_data(page)->refs = how == VM_IN_READ;
	own(page, how == VM_IN_READ ? min_seq[FILES] : max_seq);
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
		move(page, min_seq[p->kind]);
	} else {
		p->used = true;
	}
}

static void mglru_remove(struct page *page, enum vm_out why)
{
	(void)why;
	disown(page);
}

static bool test_and_clear_used(struct page *page)
{
	bool used = page_referenced(page) || mglru_data(page)->used;

	mglru_data(page)->used = false;
	return used;
}

static void promote(struct page *page)
{
	if (mglru_data(page)->gen == max_seq % MAX_GENS)
		return;
	move(page, max_seq);
	nr_promoted++;
}

static u32 nr_gens(enum kind kind)
{
	return max_seq - min_seq[kind] + 1;
}

/* Leaves empty generations behind. That of anonymous pages does not get ahead of that of files. */
static void inc_min_seq(void)
{
	for (int kind = 0; kind < NR_KINDS; kind++)
		while (nr_gens(kind) > MIN_GENS && !nr[kind][min_seq[kind] % MAX_GENS])
			min_seq[kind]++;
	min_seq[ANON] = MIN(min_seq[ANON], min_seq[FILES]);
}

static void begin_walk(void)
{
	if (!walking)
		nr_left = nr_all;
	walking = true;
}

/* Goes on with the walk for so many pages; at its end a generation begins. */
static void walk(struct vm_scan *scan, u32 pages)
{
	for (; nr_left && pages && vm_scan_more(scan); nr_left--, pages--) {
		struct mglru_page *p = list_first_entry(&all, struct mglru_page, walk);

		list_move_tail(&p->walk, &all);
		if (test_and_clear_used(policy_page_of(p)))
			promote(policy_page_of(p));
	}
	if (nr_left)
		return;
	walking = false;
	max_seq++;
	nr_walks++;
}

/* Is it time for a walk, though there is still something to evict? */
static bool should_run_aging(void)
{
	u32 young = 0, old = 0;

	if (nr_gens(ANON) > MIN_GENS + 1)
		return false;
	for (int kind = 0; kind < NR_KINDS; kind++) {
		young += nr[kind][max_seq % MAX_GENS];
		old += nr[kind][(max_seq - MIN_GENS) % MAX_GENS];
	}
	return young * MIN_GENS > nr_all || old * (MIN_GENS + 2) < nr_all;
}

/* May the first page of the oldest generation go? If not, it is moved. */
static bool sort(struct vm_scan *scan, struct page *page, enum kind kind)
{
	if (!vm_eligible(scan, page)) {
		move(page, min_seq[kind] + 1);
	} else if (mglru_data(page)->refs > 1) {
		move(page, min_seq[kind] + 1);
		nr_protected++;
	} else if (test_and_clear_used(page)) {
		promote(page);
	} else {
		return true;
	}
	return false;
}

/* The kind that gives; NR_KINDS: none has a generation from which may be evicted. */
static enum kind giving_kind(void)
{
	enum kind kind;

	inc_min_seq();
	kind = min_seq[ANON] < min_seq[FILES] ? ANON : FILES;
	if (nr_gens(kind) <= MIN_GENS || !nr[kind][min_seq[kind] % MAX_GENS])
		kind = kind == ANON ? FILES : ANON;
	if (nr_gens(kind) <= MIN_GENS || !nr[kind][min_seq[kind] % MAX_GENS])
		return NR_KINDS;
	return kind;
}

/* Evicts, and ages when it must, as long as the budget is more than the reserve. */
static struct page *find_page(struct vm_scan *scan, u32 reserve)
{
	inc_min_seq();
	if (should_run_aging())
		begin_walk();
	if (walking)
		walk(scan, WALK_STEP);
	while (nr_all && scan->budget > reserve) {
		enum kind kind = giving_kind();
		struct page *page;

		if (kind == NR_KINDS) {
			begin_walk();
			walk(scan, scan->budget - reserve);
			continue;
		}
		vm_scan_more(scan);
		page = first(&gens[kind][min_seq[kind] % MAX_GENS]);
		if (sort(scan, page, kind))
			return page;
	}
	return NULL;
}

/* For priority 0: whatever is eligible. */
static struct page *any_page(struct vm_scan *scan)
{
	struct mglru_page *p;

	list_for_each_entry(p, &all, walk) {
		if (!vm_scan_more(scan))
			break;
		if (vm_eligible(scan, policy_page_of(p)))
			return policy_page_of(p);
	}
	return NULL;
}

static struct page *mglru_select(struct vm_scan *scan)
{
	struct page *page = find_page(scan, scan->priority ? 0 : nr_all);

	if (!page && !scan->priority)
		page = any_page(scan);
	if (page)
		disown(page);
	return page;
}

static void mglru_putback(struct page *page, enum vm_put why)
{
	mglru_data(page)->used = why == VM_PUT_USED;
	own(page, why == VM_PUT_USED ? max_seq : min_seq[page_is_file(page) ? FILES : ANON] + 1);
}

static int mglru_check(void)
{
	int sum = 0;

	for (int kind = 0; kind < NR_KINDS; kind++)
		for (int gen = 0; gen < MAX_GENS; gen++) {
			if (vm_list_length(&gens[kind][gen]) != (int)nr[kind][gen])
				return -1;
			sum += nr[kind][gen];
		}
	return sum == (int)nr_all && vm_list_length(&all) == sum ? sum : -1;
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
				 age < nr_gens(kind) ? nr[kind][(max_seq - age) % MAX_GENS] : 0);
	show_u64(m, "max_seq", max_seq);
	show_u64(m, "walks", nr_walks);
	show_u64(m, "promoted", nr_promoted);
	show_u64(m, "protected", nr_protected);
}

static const struct vm_policy mglru = {
	.name = "mglru",
	.summary = "Linux 6.1: generations of pages, by the last walk that found them used",
	.init = mglru_init,
	.insert = mglru_insert,
	.touch = mglru_touch,
	.remove = mglru_remove,
	.select = mglru_select,
	.putback = mglru_putback,
	.check = mglru_check,
	.show = mglru_show,
};
VM_POLICY(mglru);
