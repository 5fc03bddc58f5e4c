/*
 * CLOCK-Pro: pages that are reused soon are hot, whenever their last use was.
 *
 * Problem. LRU and CLOCK look at when a page was last used. A page of a long scan was used just
 * now, and is worth nothing. A loop a little larger than memory loses every page just before its
 * next use. LIRS judges by the reuse distance, the number of other pages used between the last two
 * uses, but it must see each use.
 *
 * Idea. Pages with small reuse distances are hot, the others cold, and only cold ones are evicted.
 * A cold page has a test period, which begins when the page is inserted. If the page is used again
 * before the test ends, its distance is smaller than that of some hot page, so it becomes hot and
 * that hot page becomes cold. A page that is evicted during its test stays on the clock as a ghost.
 * All pages and ghosts are on one clock:
 *
 *	              newest            a state                        in memory, bits
 *	         new pages | HANDhot    hot                            yes
 *	             .--o--|--o--.      cold, in test                  yes
 *	            o      oldest o     cold, test over                yes
 *	            |             |     ghost: cold, in test           no
 *	   HANDcold o             o HANDtest
 *	             '--o--o--o--'      The hands move from old to new.
 *
 *	HANDcold   frees a frame. A cold page with its bit clear is evicted, as a ghost if it is in
 *	           test. With its bit set: in test, it becomes hot and newest; test over, it becomes
 *	           newest and a new test begins.
 *	HANDhot    runs when there are more than m - mc hot pages. A hot page with its bit set: clears
 *	           the bit, passes it. Bit clear: cold, test over. Ends tests of cold pages it passes.
 *	HANDtest   runs when there are more than m ghosts, and ends tests until one ghost is dropped.
 *	fault      with a ghost: hot, newest, then HANDhot; without: cold, in test, newest.
 *	mc         target number of cold pages: one more for a use during a test, one fewer for a test
 *	           that ends without a use; from 1 to m - 1.
 *
 * The size m is the current vm_frames(): the policy's pages and the free frames.
 *
 * What accessed bits change: nothing, the paper is written for them. Uses that the core sees (minor
 * faults, read, write) set a bit of the policy's own. Open in the paper, and decided here: while
 * memory fills, all pages are cold, and mc begins at 1; if there is no cold page, HANDhot makes
 * one. A page that is read ahead has no test until it is claimed. A page that its process does not
 * need (DONTNEED) is cold and the next one under HANDcold.
 *
 * The circle begins at HANDhot: passing an entry means moving the first to the end. Resident cold
 * pages are on a second list in the same order, so HANDcold need not search for them. While the
 * core works on a page in test, a ghost identified by the page's frame keeps its place. In a fault,
 * a hand makes at most MAX_STEPS steps, and goes on at the next fault.
 *
 * S. Jiang, F. Chen, X. Zhang, "CLOCK-Pro: An effective improvement of the CLOCK replacement",
 * USENIX ATC 2005, sections 3 and 4.
 */
#include "mm/ghost.h"
#include "mm/policy.h"

enum { MAX_STEPS = 256, IN_WORK = 64 };
#define FRAME_STORE UINT32_MAX /* page_id.store of a ghost that keeps the place of a frame's page */

struct clockpro_page {
	struct list_head node;
	struct list_head cold; /* on colds, unless hot */
	bool hot, in_test, used; /* used: set by a use that the core saw */
};
POLICY_PAGE_FITS(struct clockpro_page);

static struct list_head circle; /* pages and ghosts; HANDhot is before the first */
static struct list_head colds; /* resident cold pages, in the same order */
static struct list_head *hand_cold, *hand_test; /* the entry under each hand; NULL: the first */
static struct ghosts ghosts;
static u32 nr_hot, nr_cold;
static u32 mc; /* target number of cold pages */
static u64 nr_promoted, nr_demoted, nr_ghost_hits;

static struct clockpro_page *clockpro_data(struct page *page)
{
	return policy_page(page);
}

/* Places for ghosts: one for each frame, and IN_WORK for pages that the core works on. */
static int clockpro_init(void)
{
	INIT_LIST_HEAD(&circle);
	INIT_LIST_HEAD(&colds);
	hand_cold = hand_test = NULL;
	nr_hot = nr_cold = 0;
	mc = 1;
	nr_promoted = nr_demoted = nr_ghost_hits = 0;
	return ghosts_init(&ghosts, max_pfn + IN_WORK);
}

static void clockpro_exit(void)
{
	ghosts_exit(&ghosts);
}

/* Entries and hands. */

/* Returns the page of an entry of the circle, or NULL if the entry is a ghost. */
static struct clockpro_page *page_at(struct list_head *node)
{
	struct page *page = (struct page *)node;

	if (page < mem_map || page >= mem_map + max_pfn)
		return NULL;
	return list_entry(node, struct clockpro_page, node);
}

/* Returns the next entry on the circular list, or NULL if there is no other entry. */
static struct list_head *after(const struct list_head *list, const struct list_head *node)
{
	struct list_head *next = node->next == list ? list->next : node->next;

	return next == node ? NULL : next;
}

static void leave_hands(struct clockpro_page *p)
{
	if (hand_test == &p->node)
		hand_test = after(&circle, &p->node);
	if (!p->hot && hand_cold == &p->cold)
		hand_cold = after(&colds, &p->cold);
}

static void delist(struct clockpro_page *p)
{
	leave_hands(p);
	list_del(&p->node);
	if (!p->hot)
		list_del(&p->cold);
	nr_hot -= p->hot;
	nr_cold -= !p->hot;
}

/* Inserts before these entries: node of the circle, cold of colds. */
static void enlist(struct clockpro_page *p, struct list_head *node, struct list_head *cold)
{
	list_add_tail(&p->node, node);
	if (!p->hot)
		list_add_tail(&p->cold, cold);
	nr_hot += p->hot;
	nr_cold += !p->hot;
}

static void enlist_newest(struct clockpro_page *p)
{
	enlist(p, &circle, &colds);
}

static void drop(struct ghost *ghost)
{
	if (hand_test == &ghost->node)
		hand_test = after(&circle, &ghost->node);
	ghost_drop(&ghosts, ghost);
}

static void drop_id(struct page_id id)
{
	struct ghost *ghost = ghost_find(&ghosts, id);

	if (ghost)
		drop(ghost);
}

static struct page_id frame_of(struct clockpro_page *p)
{
	return (struct page_id){ FRAME_STORE, (u32)(policy_page_of(p) - mem_map) };
}

/* The number of cold pages. */

static u32 cold_wanted(void)
{
	u32 m = vm_frames();

	return MIN(mc, m > 1 ? m - 1 : 1);
}

static bool too_many_hot(void)
{
	return nr_hot + cold_wanted() > MAX(vm_frames(), 1u);
}

static void used_in_test(void)
{
	mc = cold_wanted() + 1;
	mc = cold_wanted();
}

/* Ends the test of this entry, if it is in one. */
static void end_test(struct list_head *node)
{
	struct clockpro_page *p = page_at(node);
	bool was_used = p && (p->used || page_young(policy_page_of(p)));

	if (p && !p->in_test)
		return;
	if (!was_used)
		mc = MAX(cold_wanted(), 2u) - 1;
	if (p)
		p->in_test = false;
	else
		drop(list_entry(node, struct ghost, node));
}

/* Was the page used since a hand last passed it? Clears the accessed bits and the core's bit. */
static bool was_used(struct clockpro_page *p)
{
	bool seen = p->used;

	p->used = false;
	return page_referenced(policy_page_of(p)) || seen;
}

/* The hands. */

/* HANDhot passes one entry. */
static void step_hot(void)
{
	struct list_head *node = circle.next;
	struct clockpro_page *p = page_at(node);

	if (p && p->hot && !was_used(p)) {
		p->hot = false;
		nr_hot--;
		nr_cold++;
		nr_demoted++;
		list_move_tail(node, &circle);
		list_add_tail(&p->cold, &colds);
	} else if (p && p->hot) {
		list_move_tail(node, &circle);
	} else if (p) {
		end_test(node);
		list_move_tail(node, &circle);
		list_move_tail(&p->cold, &colds);
	} else {
		end_test(node);
	}
}

static bool at_hot(void)
{
	struct clockpro_page *p = page_at(circle.next);

	return p && p->hot;
}

/* Runs HANDhot until there are few enough hot pages; it stops at a hot page. */
static void run_hot(void)
{
	for (u32 steps = 0; steps < MAX_STEPS; steps++) {
		if (!too_many_hot() && (!nr_hot || at_hot()))
			break;
		step_hot();
	}
}

static void run_test(void)
{
	for (u32 steps = 0; steps < MAX_STEPS && ghosts.nr > vm_frames(); steps++) {
		struct list_head *node = hand_test ?: circle.next;

		hand_test = after(&circle, node);
		if (!page_at(node) || !page_at(node)->hot)
			end_test(node);
	}
}

static void become_hot(struct clockpro_page *p)
{
	p->hot = true;
	p->in_test = p->used = false;
	nr_promoted++;
	used_in_test();
	enlist_newest(p);
	if (too_many_hot())
		run_hot();
}

/* No cold page is eligible: HANDhot makes one. Returns false if the budget does not suffice. */
static bool make_cold(struct vm_scan *scan, u32 kept_back)
{
	u32 before = nr_cold;

	while (nr_hot && nr_cold == before) {
		if (scan->budget <= kept_back || !vm_scan_more(scan))
			return false;
		step_hot();
	}
	if (nr_cold > before)
		hand_cold = colds.prev;
	return nr_cold > before;
}

static struct clockpro_page *run_cold(struct vm_scan *scan, u32 kept_back)
{
	u32 skipped = 0;

	while (skipped < nr_cold || make_cold(scan, kept_back)) {
		struct clockpro_page *p =
			list_entry(hand_cold ?: colds.next, struct clockpro_page, cold);

		if (scan->budget <= kept_back || !vm_scan_more(scan))
			return NULL;
		hand_cold = &p->cold;
		if (!vm_eligible(scan, policy_page_of(p))) {
			hand_cold = after(&colds, hand_cold);
			skipped++;
			continue;
		}
		if (!was_used(p))
			return p;
		delist(p);
		if (p->in_test) {
			become_hot(p);
		} else {
			p->in_test = true;
			enlist_newest(p);
		}
	}
	return NULL;
}

/* Hooks. */

static void clockpro_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			    struct page_id from)
{
	bool wanted = how != VM_IN_PREFETCH && how != VM_IN_ADOPT;
	struct ghost *ghost = wanted ? ghost_find(&ghosts, from) : NULL;
	struct clockpro_page *p = clockpro_data(page);

	(void)mm;
	drop_id(frame_of(p)); /* of a page that was freed while the core worked on it */
	if (ghost) {
		nr_ghost_hits++;
		drop(ghost);
		become_hot(p);
	} else {
		p->in_test = how != VM_IN_PREFETCH;
		enlist_newest(p);
	}
}

static void clockpro_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct clockpro_page *p = clockpro_data(page), *next;

	(void)mm;
	p->used = how != VM_TOUCH_DONTNEED;
	if (p->used)
		return;
	page_referenced(page);
	delist(p);
	p->hot = p->in_test = false;
	next = hand_cold ? list_entry(hand_cold, struct clockpro_page, cold) : NULL;
	enlist(p, next ? &next->node : &circle, next ? &next->cold : &colds);
	hand_cold = &p->cold;
}

static void clockpro_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(clockpro_data(page));
}

static struct clockpro_page *any_eligible(struct vm_scan *scan)
{
	struct list_head *node;

	list_for_each(node, &circle) {
		struct clockpro_page *p = page_at(node);

		if (p && !vm_scan_more(scan))
			return NULL;
		if (p && vm_eligible(scan, policy_page_of(p)))
			return p;
	}
	return NULL;
}

/* Puts the ghost into the place of this entry, also for HANDtest. */
static void stand_in(struct ghost *ghost, struct list_head *node)
{
	list_add_tail(&ghost->node, node);
	if (hand_test == node)
		hand_test = &ghost->node;
}

/* At priority 0, reserves enough of the budget to offer every page, used or not. */
static struct page *clockpro_select(struct vm_scan *scan)
{
	struct clockpro_page *p = run_cold(scan, scan->priority ? 0 : nr_hot + nr_cold);
	struct ghost *place;

	if (!p && !scan->priority)
		p = any_eligible(scan);
	if (!p)
		return NULL;
	place = p->in_test ? ghost_add(&ghosts, frame_of(p)) : NULL;
	if (place)
		stand_in(place, &p->node);
	delist(p);
	p->hot = false;
	return policy_page_of(p);
}

static void clockpro_putback(struct page *page, enum vm_put why)
{
	struct clockpro_page *p = clockpro_data(page);

	drop_id(frame_of(p));
	if (why == VM_PUT_USED && p->in_test) {
		become_hot(p);
		return;
	}
	p->in_test |= why == VM_PUT_USED;
	enlist_newest(p);
}

static void clockpro_evicted(struct page *page, struct page_id to)
{
	struct ghost *place, *ghost;

	drop_id(to);
	place = ghost_find(&ghosts, frame_of(clockpro_data(page)));
	if (!place)
		return;
	ghost = ghost_add(&ghosts, to);
	if (ghost)
		stand_in(ghost, &place->node);
	drop(place);
	run_test();
}

static int clockpro_check(void)
{
	struct list_head *at = &circle;
	u32 pages = 0, others = 0;

	do {
		if (at->next->prev != at || pages > max_pfn || others > ghosts.nr)
			return -1;
		at = at->next;
		pages += at != &circle && page_at(at);
		others += at != &circle && !page_at(at);
	} while (at != &circle);
	if (others != ghosts.nr || pages != nr_hot + nr_cold ||
	    vm_list_length(&colds) != (int)nr_cold)
		return -1;
	return pages;
}

static void clockpro_show(struct seq_file *m)
{
	show_u64(m, "hot", nr_hot);
	show_u64(m, "cold", nr_cold);
	show_u64(m, "ghosts", ghosts.nr);
	show_u64(m, "cold_wanted", cold_wanted());
	show_u64(m, "ghost_hits", nr_ghost_hits);
	show_u64(m, "promoted", nr_promoted);
	show_u64(m, "demoted", nr_demoted);
}

static const struct vm_policy clockpro = {
	.name = "clockpro",
	.summary = "hot and cold pages by reuse distance, three hands on a clock",
	.init = clockpro_init,
	.exit = clockpro_exit,
	.insert = clockpro_insert,
	.touch = clockpro_touch,
	.remove = clockpro_remove,
	.select = clockpro_select,
	.putback = clockpro_putback,
	.evicted = clockpro_evicted,
	.forget = drop_id,
	.check = clockpro_check,
	.show = clockpro_show,
};
VM_POLICY(clockpro);
