/*
 * Linux 5.9 to 6.1 (without MGLRU): active and inactive lists, and refault distances.
 *
 * Two lists tell pages that are used again from pages used once, if an inactive page stays long
 * enough to be used again. If the active list is full of pages that were hot once, the inactive
 * list is too short: every page of the new working set is evicted before its second use, and none
 * becomes active. The lists alone cannot see it, since the second use is a fault.
 *
 * Refault distance (J. Weiner, Linux 3.15). A clock counts the pages that leave the inactive list
 * by eviction or by activation. An evicted page leaves a shadow entry with the clock's reading E.
 * If it is read back at reading R, then it was evicted R - E places too early: with that many more
 * inactive pages it would have been used in time. If the other lists have that many pages, they
 * have to make room: the page becomes active at once, and in the next round active pages
 * become inactive even if the inactive list is not the shorter one.
 *
 *	event                       what happens
 *	new, or read back late      inactive
 *	read back in time           active
 *	read or write finds it      becomes referenced; an inactive page that already was
 *	                            becomes active and unreferenced (mark_page_accessed)
 *	its owner unmaps it, used   as for read or write, if it is not anonymous
 *	tail of inactive, used      referenced, and round once more; active if it was referenced
 *	                            before, or if it is a program's text
 *	tail of inactive, not used  evicted, with a shadow entry
 *	tail of active              inactive, used or not; text in use goes round again
 *
 * Which kind must give up a page (get_scan_count)? The cost of a kind is the number of its pages
 * that reclaim wrote, or that had been active and were read back in time. Costs are halved when
 * their sum exceeds a quarter of all pages. Lists are scanned in proportion to their lengths, times
 * swappiness for anonymous pages or 200 - swappiness for files, and less if the kind's cost is
 * higher. If there are many inactive pages of files and none is read back in time, only files are
 * scanned; if there are no pages of files, only anonymous ones.
 *
 * A round at priority P looks at 1 / 2^P of each list, 32 pages of each in turn (shrink_lruvec).
 * One select continues the round until it has found a victim.
 *
 * Source: Linux 6.1, mm/workingset.c; mm/vmscan.c (get_scan_count, prepare_scan_count,
 * shrink_active_list, folio_check_references); mm/swap.c (lru_note_cost, folio_mark_accessed).
 *
 * Differences from Linux. A page that was read ahead shows its distance when it is claimed, in
 * Linux when it is read. Linux activates a page that several mappings used, at once; here the
 * mappings are not told apart. Linux marks a used page when any of its mappings ends, this policy
 * only when the owner's ends. There are as many shadow entries as frames, and the oldest is dropped
 * first. At priority 0 uses do not count. Left out: memory cgroups, and scanning only anonymous
 * pages already when few pages of files are left (the amount of free memory is not known here).
 */
#include "mm/ghost.h"
#include "mm/policy.h"

enum kind { ANON, FILES, NR_KINDS };
enum list { INACTIVE, ACTIVE, NR_LISTS };

#define BATCH 32 /* SWAP_CLUSTER_MAX */

struct linux59_page {
	struct list_head node;
	u8 kind, list;
	bool referenced;
	bool young;      /* mapped by a fault since the last look */
	bool workingset; /* has been active */
};
POLICY_PAGE_FITS(struct linux59_page);

static struct lru {
	struct list_head pages[NR_LISTS]; /* newest first */
	u32 nr[NR_LISTS];
	u32 cost;          /* decaying count of pages written, and of active pages read back */
	u32 refaults;      /* pages that became active when they were read back, ... */
	u32 seen_refaults; /* ... and their number when the last round began */
	bool deactivate;   /* in this round, active pages move down */
} lru[NR_KINDS];

/* The current round: how many pages of each list are still to be looked at. */
static struct round {
	u32 left[NR_KINDS][NR_LISTS];
	u32 turn, batch; /* the list in turn (kind * 2 + list), and its pages left in this turn */
} round;

static struct ghosts shadows;
static LIST_HEAD(by_age); /* shadow entries, newest first */
static u32 nonresident_age;
static u64 nr_activated, nr_deactivated, nr_refaults, nr_restored;
static u32 swappiness = 60;

static struct linux59_page *linux59_data(struct page *page)
{
	return policy_page(page);
}

static void enlist(struct linux59_page *p, enum list list)
{
	p->list = list;
	list_add(&p->node, &lru[p->kind].pages[list]);
	lru[p->kind].nr[list]++;
}

static void delist(struct linux59_page *p)
{
	list_del(&p->node);
	lru[p->kind].nr[p->list]--;
}

/* Moves the page to the head of a list. */
static void move(struct linux59_page *p, enum list list)
{
	delist(p);
	enlist(p, list);
}

static void activate(struct linux59_page *p)
{
	move(p, ACTIVE);
	nonresident_age++;
	nr_activated++;
}

static void mark_page_accessed(struct linux59_page *p)
{
	if (p->referenced && p->list == INACTIVE) {
		p->referenced = false;
		activate(p);
	} else {
		p->referenced = true;
	}
}

static u32 nr_of(enum kind kind)
{
	return lru[kind].nr[INACTIVE] + lru[kind].nr[ACTIVE];
}

static void note_cost(enum kind kind)
{
	lru[kind].cost++;
	if (lru[ANON].cost + lru[FILES].cost > (nr_of(ANON) + nr_of(FILES)) / 4) {
		lru[ANON].cost /= 2;
		lru[FILES].cost /= 2;
	}
}

static int linux59_init(void)
{
	for (int kind = 0; kind < NR_KINDS; kind++) {
		lru[kind] = (struct lru){ 0 };
		for (int list = 0; list < NR_LISTS; list++)
			INIT_LIST_HEAD(&lru[kind].pages[list]);
	}
	round = (struct round){ 0 };
	INIT_LIST_HEAD(&by_age);
	nonresident_age = 0;
	nr_activated = nr_deactivated = nr_refaults = nr_restored = 0;
	return ghosts_init(&shadows, max_pfn);
}

static void linux59_exit(void)
{
	ghosts_exit(&shadows);
}

/* Returns the number of pages of which some would be given up to keep a page of this kind. */
static u32 workingset_size(enum kind kind)
{
	return lru[FILES].nr[ACTIVE] + lru[ANON].nr[ACTIVE] + lru[!kind].nr[INACTIVE];
}

/* The page was read back and had this shadow entry. Returns true if it becomes active. */
static bool workingset_refault(struct linux59_page *p, u32 shadow)
{
	u32 distance = (nonresident_age - (shadow >> 1)) & (~0u >> 1);

	nr_refaults++;
	if (distance > workingset_size(p->kind))
		return false;
	nonresident_age++;
	nr_activated++;
	lru[p->kind].refaults++;
	if (shadow & 1) {
		p->workingset = true;
		nr_restored++;
		note_cost(p->kind);
	}
	return true;
}

/* A page that is read ahead is not in use yet: its shadow entry stays until the page is claimed. */
static void linux59_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			   struct page_id from)
{
	struct linux59_page *p = linux59_data(page);
	bool claimed = how != VM_IN_PREFETCH && how != VM_IN_ADOPT;
	struct ghost *ghost = claimed && from.store ? ghost_find(&shadows, from) : NULL;
	bool active = false;

	p->kind = page_is_file(page) ? FILES : ANON;
	if (claimed) {
		p->young = mm;
		p->referenced = !mm; /* inserted by a read, which calls mark_page_accessed */
	}
	if (ghost) {
		active = workingset_refault(p, ghost->data);
		ghost_drop(&shadows, ghost);
	}
	enlist(p, active ? ACTIVE : INACTIVE);
}

/* Moves to the tail of the inactive list, as unused. (In Linux a dirty page is written first.) */
static void deactivate(struct page *page)
{
	struct linux59_page *p = linux59_data(page);

	page_referenced(page);
	p->referenced = p->young = false;
	move(p, INACTIVE);
	list_move_tail(&p->node, &lru[p->kind].pages[INACTIVE]);
}

static void linux59_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_MINOR)
		linux59_data(page)->young = true;
	else if (how == VM_TOUCH_IO)
		mark_page_accessed(linux59_data(page));
	else if (how == VM_TOUCH_DONTNEED)
		deactivate(page);
}

static void linux59_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(linux59_data(page));
}

static bool test_and_clear_used(struct linux59_page *p)
{
	bool used = page_referenced(policy_page_of(p)) | p->young;

	p->young = false;
	return used;
}

/* When a mapping of a file or of shared memory ends, Linux marks the pages that were used through
 * it (zap_pte_range). */
static void linux59_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	(void)to;
	if (from && page_id_of(page).store > 1 && test_and_clear_used(linux59_data(page)))
		mark_page_accessed(linux59_data(page));
}

/* Has a kind more active pages than its inactive ones allow: 1 for each, or more from 1 GiB on? */
static bool inactive_is_low(enum kind kind)
{
	u32 gib = nr_of(kind) >> 18, ratio = 1;

	while ((ratio + 1) * (ratio + 1) <= 10 * gib)
		ratio++;
	return lru[kind].nr[INACTIVE] * ratio < lru[kind].nr[ACTIVE];
}

/* Returns the weight of a kind's lists: its share of the scan is weight / sum of both weights. */
static u64 weight(enum kind kind, u32 preference)
{
	u32 total = lru[ANON].cost + lru[FILES].cost;

	return (u64)preference * (3 * total + 1) / (total + lru[kind].cost + 1);
}

static struct linux59_page *oldest(enum kind kind, enum list list)
{
	return list_last_entry(&lru[kind].pages[list], struct linux59_page, node);
}

/* Looks at the oldest active page: it moves down, unless it is text of a program in use. */
static void shrink_active_list(enum kind kind)
{
	struct linux59_page *p = oldest(kind, ACTIVE);
	bool used = test_and_clear_used(p);

	if (used && kind == FILES && page_is_executable(policy_page_of(p))) {
		move(p, ACTIVE);
		return;
	}
	p->workingset = true;
	nr_deactivated++;
	move(p, INACTIVE);
}

/* Returns true if the page at the tail stays in memory; then it has been moved. */
static bool folio_check_references(struct linux59_page *p)
{
	bool text = p->kind == FILES && page_is_executable(policy_page_of(p));
	bool referenced = p->referenced;

	p->referenced = test_and_clear_used(p);
	if (!p->referenced)
		return false;
	if (referenced || text)
		activate(p);
	else
		move(p, INACTIVE);
	return true;
}

/* Looks at the oldest inactive page. Returns it, off its list, or NULL if it stays. */
static struct page *shrink_inactive_list(enum kind kind, const struct vm_scan *scan)
{
	struct linux59_page *p = oldest(kind, INACTIVE);
	struct page *page = policy_page_of(p);

	if (!vm_eligible(scan, page)) {
		move(p, INACTIVE);
		return NULL;
	}
	if (folio_check_references(p))
		return NULL;
	delist(p);
	if (page_dirty(page))
		note_cost(kind);
	return page;
}

/* Returns the list to look at next (kind * 2 + list), or -1 if the round is over. Active lists alone
 * do not continue a round. */
static int next_turn(void)
{
	for (int n = 0; n <= NR_KINDS * NR_LISTS; n++) {
		u32 kind = round.turn / NR_LISTS, list = round.turn % NR_LISTS;
		bool idle = list == ACTIVE && !lru[kind].deactivate;

		if (round.batch && round.left[kind][list] && lru[kind].nr[list] && !idle)
			return (int)round.turn;
		if (!lru[kind].nr[list] || idle)
			round.left[kind][list] = 0;
		round.turn = (round.turn + 1) % (NR_KINDS * NR_LISTS);
		round.batch = BATCH;
	}
	return -1;
}

/* Begins a round: how many pages of each list to look at (prepare_scan_count, get_scan_count). First
 * balances the anonymous lists, which Linux does at the end of the round before. */
static void begin_round(struct vm_scan *scan)
{
	int priority = scan->priority;
	u64 anon, files, both;

	for (u32 n = 0; n < BATCH && inactive_is_low(ANON) && vm_scan_more(scan); n++)
		shrink_active_list(ANON);
	anon = weight(ANON, swappiness);
	files = nr_of(FILES) ? weight(FILES, 200 - swappiness) : 0;

	for (int kind = 0; kind < NR_KINDS; kind++) {
		lru[kind].deactivate = lru[kind].refaults != lru[kind].seen_refaults ||
				       inactive_is_low(kind);
		lru[kind].seen_refaults = lru[kind].refaults;
	}
	if (lru[FILES].nr[INACTIVE] >> priority && !lru[FILES].deactivate)
		anon = 0;
	both = MAX(anon + files, 1ull);
	for (int list = 0; list < NR_LISTS; list++) {
		round.left[ANON][list] = (lru[ANON].nr[list] >> priority) * anon / both;
		round.left[FILES][list] = (lru[FILES].nr[list] >> priority) * files / both;
	}
	round.turn = 0;
	round.batch = BATCH;
}

/* Continues the round until a victim is found, or the round is over, or the budget is spent. */
static struct page *shrink_lists(struct vm_scan *scan)
{
	int turn = next_turn();

	if (turn < 0)
		begin_round(scan);
	while ((turn = next_turn()) >= 0 && vm_scan_more(scan)) {
		enum kind kind = turn / NR_LISTS;
		struct page *page = NULL;

		round.left[kind][turn % NR_LISTS]--;
		round.batch--;
		if (turn % NR_LISTS == ACTIVE)
			shrink_active_list(kind);
		else
			page = shrink_inactive_list(kind, scan);
		if (page)
			return page;
	}
	return NULL;
}

/* For priority 0: returns the oldest eligible page of a list, used or not. */
static struct page *take_any(enum kind kind, enum list list, struct vm_scan *scan)
{
	for (u32 n = lru[kind].nr[list]; n && vm_scan_more(scan); n--) {
		struct linux59_page *p = oldest(kind, list);

		if (vm_eligible(scan, policy_page_of(p))) {
			delist(p);
			return policy_page_of(p);
		}
		move(p, list);
	}
	return NULL;
}

static struct page *linux59_select(struct vm_scan *scan)
{
	struct page *page = NULL;

	if (scan->priority)
		return shrink_lists(scan);
	for (int list = INACTIVE; list < NR_LISTS && !page; list++)
		page = take_any(FILES, list, scan) ?: take_any(ANON, list, scan);
	return page;
}

static void linux59_putback(struct page *page, enum vm_put why)
{
	if (why == VM_PUT_USED)
		linux59_data(page)->young = true;
	enlist(linux59_data(page), why == VM_PUT_NOSWAP ? ACTIVE : INACTIVE);
}

static void linux59_evicted(struct page *page, struct page_id to)
{
	struct ghost *shadow;

	if (shadows.nr == shadows.capacity)
		ghost_drop(&shadows, list_last_entry(&by_age, struct ghost, node));
	shadow = ghost_add(&shadows, to);
	shadow->data = nonresident_age << 1 | linux59_data(page)->workingset;
	list_add(&shadow->node, &by_age);
	nonresident_age++;
}

static void linux59_forget(struct page_id id)
{
	struct ghost *shadow = ghost_find(&shadows, id);

	if (shadow)
		ghost_drop(&shadows, shadow);
}

static int linux59_check(void)
{
	int sum = 0;

	for (int kind = 0; kind < NR_KINDS; kind++)
		for (int list = 0; list < NR_LISTS; list++) {
			if (vm_list_length(&lru[kind].pages[list]) != (int)lru[kind].nr[list])
				return -1;
			sum += lru[kind].nr[list];
		}
	return vm_list_length(&by_age) == (int)shadows.nr ? sum : -1;
}

static void linux59_show(struct seq_file *m)
{
	show_u64(m, "inactive", lru[ANON].nr[INACTIVE]);
	show_u64(m, "active", lru[ANON].nr[ACTIVE]);
	show_u64(m, "inactive_file", lru[FILES].nr[INACTIVE]);
	show_u64(m, "active_file", lru[FILES].nr[ACTIVE]);
	show_u64(m, "shadows", shadows.nr);
	show_u64(m, "activated", nr_activated);
	show_u64(m, "deactivated", nr_deactivated);
	show_u64(m, "refaults", nr_refaults);
	show_u64(m, "refaults_activated", lru[ANON].refaults + lru[FILES].refaults);
	show_u64(m, "refaults_restored", nr_restored);
	show_u64(m, "cost_anon", lru[ANON].cost);
	show_u64(m, "cost_file", lru[FILES].cost);
}

static const struct vm_param linux59_params[] = {
	{ "swappiness", &swappiness, 0, 200, NULL,
	  "weight of anonymous pages; weight of files is 200 minus this" },
	{ 0 },
};

static const struct vm_policy linux59 = {
	.name = "linux59",
	.summary = "Linux 5.9: active and inactive lists, with refault distances",
	.params = linux59_params,
	.init = linux59_init,
	.exit = linux59_exit,
	.insert = linux59_insert,
	.touch = linux59_touch,
	.remove = linux59_remove,
	.moved = linux59_moved,
	.select = linux59_select,
	.putback = linux59_putback,
	.evicted = linux59_evicted,
	.forget = linux59_forget,
	.check = linux59_check,
	.show = linux59_show,
};
VM_POLICY(linux59);
