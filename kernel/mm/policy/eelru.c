/*
 * EELRU, early eviction LRU: LRU, until hits just beyond memory promise more than it keeps.
 *
 * In a loop over a little more than memory, LRU evicts each page shortly before its use. Any other
 * order is better: if some pages are evicted early, the others stay until their next use. EELRU
 * finds out whether that is so. It keeps all pages in the order of their last uses, also those that
 * are no longer in memory (ghosts), and counts at which position of that order pages are used:
 *
 *	position   0      e                 M              l
 *	           | recent |     early      |     late     |        M: the frames
 *
 *	LRU:             hits in recent and in early
 *	evict at e:      hits in recent, and (M-e)/(l-e) of those in early and late together
 *
 * The second line holds because in the long run the positions from e to l then share the frames
 * that recent leaves. For each of several pairs (e, l) the second value minus the first is computed.
 * If the largest difference is positive, the victim is the page that follows position e, otherwise
 * the last page. It is also the last page if that is beyond l: it has stayed for too long. The
 * counters are halved whenever as many hits as there are frames have been counted.
 *
 * Regions. Here e is 1/8 or 1/2 of the frames, l 10/8, 12/8 or 16/8: six pairs. These edges divide
 * the order into six regions, each with its pages and its ghosts, newest first. A region with too
 * many of both gives its oldest to the next one; behind the last one, ghosts are dropped.
 *
 * The bits. The paper moves a page to the front at each use; a kernel sees a bit, and only when it
 * looks. It looks when a page is about to pass into the next region or to be evicted: a used page
 * goes to the front instead, and counts as a hit in its region. So there are as many groups of
 * recency as regions, and within a region pages are in the order of their last inspections, as on a
 * CLOCK. The price:
 * - A use is seen late, and the page goes to the front late, so its next position appears smaller
 *   than it is. In a loop just beyond memory, pages that stay would count as hits in early, and so
 *   speak for LRU, which would miss them. Hence, while pages are evicted early, only ghosts count:
 *   their uses are faults, which are seen at once. Any page may be the one that passes e when a
 *   frame is needed, so ghosts are a sample of all pages that pass e.
 * - A page that is inserted causes at most LOOKS inspections in each region, so that inserting is
 *   never slow. If many pages are used between two faults, regions grow too long.
 *
 * Not in the paper: LRU's victim counts as at position M, so its ghost begins in late, since the
 * number of frames is not exact. e is at least MIN_EARLY: an instruction may need six pages.
 * While an eighth of the frames is free, pages stay in the first region. A page that was only read
 * ahead leaves its ghost where it is, and has none of its own; the first request for it (CLAIM) is
 * its use. DONTNEED puts a page at the very end. A page that the scan may not take goes to the other
 * end of its region.
 *
 * Y. Smaragdakis, S. Kaplan and P. Wilson, "EELRU: simple and effective adaptive page replacement",
 * SIGMETRICS 1999.
 */
#include "lib/string.h"
#include "mm/ghost.h"
#include "mm/policy.h"

#define NR_REGIONS 6
#define IN_MEMORY 3   /* LRU keeps these regions in memory; the others are late */
#define EARLY_POINTS 2 /* e is at the end of one of the first regions, this many */
#define LOOKS 8
#define MIN_EARLY 6u
#define HIT 16u /* so that halving loses little */

/* Time of the last use that was seen, a count; the lowest bits are the region. */
#define REGION_BITS 7u
#define ONE_TIME (REGION_BITS + 1)

struct eelru_page {
	struct list_head node;
	u32 place;
	bool used;    /* set by a use that the core saw */
	bool claimed; /* a process has asked for it; false: only read ahead */
	bool early;   /* select took it early */
};
POLICY_PAGE_FITS(struct eelru_page);

static const u8 eighths[NR_REGIONS] = { 1, 4, 8, 10, 12, 16 };

static struct region {
	struct list_head pages, ghosts; /* newest first */
	u32 nr_pages, nr_ghosts;
	u32 edge; /* position of its end */
	u32 hits;
} regions[NR_REGIONS];

static struct ghosts ghosts;
static u32 now, frames, nr_counted;
static bool evicting_early;
static u32 early_point, late_point; /* regions that end at e and at l */
static u64 nr_early, nr_last;

static struct eelru_page *eelru_data(struct page *page)
{
	return policy_page(page);
}

static u32 region_of(u32 place)
{
	return place & REGION_BITS;
}

static u32 nr_resident(void)
{
	u32 nr = 0;

	for (int r = 0; r < NR_REGIONS; r++)
		nr += regions[r].nr_pages;
	return nr;
}

static void note_frames(void)
{
	u32 have = vm_frames();

	if (have == frames)
		return;
	frames = have;
	for (int r = 0; r < NR_REGIONS; r++) {
		u32 edge = (u64)frames * eighths[r] / 8;

		regions[r].edge = r < IN_MEMORY ? MIN(MAX(edge, MIN_EARLY), frames) : edge;
	}
}

static int eelru_init(void)
{
	memset(regions, 0, sizeof(regions));
	for (int r = 0; r < NR_REGIONS; r++) {
		INIT_LIST_HEAD(&regions[r].pages);
		INIT_LIST_HEAD(&regions[r].ghosts);
	}
	now = frames = nr_counted = 0;
	evicting_early = false;
	nr_early = nr_last = 0;
	return ghosts_init(&ghosts, max_pfn);
}

static void eelru_exit(void)
{
	ghosts_exit(&ghosts);
}

static void enlist(struct eelru_page *p, u32 place)
{
	struct region *region = &regions[region_of(place)];

	p->place = place;
	list_add(&p->node, &region->pages);
	region->nr_pages++;
}

static void delist(struct eelru_page *p)
{
	list_del(&p->node);
	regions[region_of(p->place)].nr_pages--;
}

static void enlist_front(struct eelru_page *p)
{
	now += ONE_TIME;
	enlist(p, now);
}

static void enlist_ghost(struct ghost *ghost, u32 place)
{
	struct region *region = &regions[region_of(place)];

	ghost->data = place;
	list_add(&ghost->node, &region->ghosts);
	region->nr_ghosts++;
}

static void drop_ghost(struct ghost *ghost)
{
	regions[region_of(ghost->data)].nr_ghosts--;
	ghost_drop(&ghosts, ghost);
}

static struct ghost *oldest_ghost(u32 r)
{
	return list_last_entry(&regions[r].ghosts, struct ghost, node);
}

/* Counts a hit. Those in the first region say nothing: it always stays in memory. */
static void count_hit(u32 r)
{
	if (!r)
		return;
	regions[r].hits += HIT;
	if (++nr_counted < frames)
		return;
	nr_counted = 0;
	for (r = 0; r < NR_REGIONS; r++)
		regions[r].hits /= 2;
}

/* If the page was used since the last look, moves it to the front. */
static bool spare_used(struct eelru_page *p)
{
	if (!page_referenced(policy_page_of(p)) && !p->used)
		return false;
	p->used = false;
	if (!evicting_early)
		count_hit(region_of(p->place));
	delist(p);
	enlist_front(p);
	return true;
}

/* The oldest entry of a region passes into the next one. */
static void pass_on(u32 r)
{
	struct region *region = &regions[r];
	struct eelru_page *p = list_last_entry(&region->pages, struct eelru_page, node);
	struct ghost *ghost = oldest_ghost(r);

	if (region->nr_ghosts && (!region->nr_pages || (s32)(ghost->data - p->place) < 0)) {
		list_del(&ghost->node);
		region->nr_ghosts--;
		enlist_ghost(ghost, ghost->data + 1);
	} else if (!spare_used(p)) {
		delist(p);
		enlist(p, p->place + 1);
	}
}

static bool is_too_long(u32 r)
{
	u32 size = regions[r].edge - (r ? regions[r - 1].edge : 0);

	return regions[r].nr_pages + regions[r].nr_ghosts > size;
}

/* Shortens regions that are too long. */
static void settle(void)
{
	u32 last = NR_REGIONS - 1;

	for (u32 r = 0; r < last; r++)
		for (int i = 0; i < LOOKS && is_too_long(r); i++)
			pass_on(r);
	for (int i = 0; i < LOOKS && is_too_long(last) && regions[last].nr_ghosts; i++)
		drop_ghost(oldest_ghost(last));
}

static void eelru_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	struct ghost *ghost = ghost_find(&ghosts, how == VM_IN_CLAIM ? page_id_of(page) : from);
	struct eelru_page *p = eelru_data(page);

	(void)mm;
	note_frames();
	p->claimed = how != VM_IN_PREFETCH;
	if (ghost && p->claimed) {
		count_hit(region_of(ghost->data));
		drop_ghost(ghost);
	}
	enlist_front(p);
	if (nr_resident() + frames / 8 >= frames)
		settle();
}

static void eelru_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct eelru_page *p = eelru_data(page);

	(void)mm;
	p->used = how != VM_TOUCH_DONTNEED;
	if (p->used)
		return;
	page_referenced(page);
	delist(p);
	enlist(p, (p->place & ~REGION_BITS) + NR_REGIONS - 1);
	list_move_tail(&p->node, &regions[NR_REGIONS - 1].pages);
}

static void eelru_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(eelru_data(page));
}

/* Returns the hits in regions first to last. */
static u32 hits(u32 first, u32 last)
{
	u32 sum = 0;

	for (u32 r = first; r <= last; r++)
		sum += regions[r].hits;
	return sum;
}

/* Returns the number of hits that eviction at the end of region e has, and LRU has not. */
static s32 gain(u32 e, u32 l)
{
	u32 early = regions[e].edge, late = regions[l].edge;

	if (early >= frames || late <= frames)
		return 0;
	return (s32)((u64)hits(e + 1, l) * (frames - early) / (late - early)) -
	       (s32)hits(e + 1, IN_MEMORY - 1);
}

/* Is early eviction better than LRU? Then sets early_point and late_point. */
static bool is_early_better(void)
{
	s32 most = 0;

	for (u32 e = 0; e < EARLY_POINTS; e++) {
		for (u32 l = IN_MEMORY; l < NR_REGIONS; l++) {
			s32 more = gain(e, l);

			if (more <= most)
				continue;
			most = more;
			early_point = e;
			late_point = l;
		}
	}
	for (u32 r = late_point + 1; r < NR_REGIONS; r++)
		if (regions[r].nr_pages)
			return false;
	return most > 0;
}

/* Returns the region to look at next, or -1 if all pages were skipped. */
static int giver(bool early, const u32 *skipped)
{
	for (u32 r = early_point + 1; early && r < NR_REGIONS; r++)
		if (skipped[r] < regions[r].nr_pages)
			return (int)r;
	for (int r = NR_REGIONS - 1; r >= 0; r--)
		if (skipped[r] < regions[r].nr_pages)
			return r;
	return -1;
}

/* Returns the page to evict, still in its region. At priority 0 the last looks cover each page once. */
static struct eelru_page *victim(struct vm_scan *scan)
{
	u32 skipped[NR_REGIONS] = { 0 }, all = nr_resident();

	for (;;) {
		bool any = !scan->priority && scan->budget <= all, early = evicting_early && !any;
		struct eelru_page *p;
		int r;

		if (!scan->priority && scan->budget == all)
			memset(skipped, 0, sizeof(skipped));
		r = giver(early, skipped);
		if (r < 0 || !vm_scan_more(scan))
			return NULL;
		early = early && r > (int)early_point;
		p = container_of(early ? regions[r].pages.next : regions[r].pages.prev,
				 struct eelru_page, node);
		if (!vm_eligible(scan, policy_page_of(p))) {
			skipped[r]++;
			delist(p);
			enlist(p, p->place);
			if (early)
				list_move_tail(&p->node, &regions[r].pages);
		} else if (any || !spare_used(p)) {
			p->early = early;
			return p;
		}
	}
}

static struct page *eelru_select(struct vm_scan *scan)
{
	struct eelru_page *p;

	note_frames();
	evicting_early = is_early_better();
	p = victim(scan);
	if (p)
		delist(p);
	return p ? policy_page_of(p) : NULL;
}

static void eelru_putback(struct page *page, enum vm_put why)
{
	struct eelru_page *p = eelru_data(page);

	p->used = why == VM_PUT_USED;
	enlist(p, p->place);
}

static void eelru_forget(struct page_id id)
{
	struct ghost *ghost = ghost_find(&ghosts, id);

	if (ghost)
		drop_ghost(ghost);
}

static void eelru_evicted(struct page *page, struct page_id to)
{
	struct eelru_page *p = eelru_data(page);
	u32 place = p->place;

	(p->early ? nr_early++ : nr_last++);
	if (!p->claimed)
		return;
	if (!p->early && region_of(place) < IN_MEMORY)
		place = (place & ~REGION_BITS) + IN_MEMORY;
	eelru_forget(to);
	for (u32 r = NR_REGIONS; ghosts.nr == ghosts.capacity; r--)
		if (regions[r - 1].nr_ghosts)
			drop_ghost(oldest_ghost(r - 1));
	enlist_ghost(ghost_add(&ghosts, to), place);
}

static int eelru_check(void)
{
	for (int r = 0; r < NR_REGIONS; r++)
		if (vm_list_length(&regions[r].pages) != (int)regions[r].nr_pages ||
		    vm_list_length(&regions[r].ghosts) != (int)regions[r].nr_ghosts)
			return -1;
	return (int)nr_resident();
}

static void eelru_show(struct seq_file *m)
{
	u32 recent = regions[0].nr_pages, early = regions[1].nr_pages + regions[2].nr_pages;

	show_u64(m, "recent", recent);
	show_u64(m, "early", early);
	show_u64(m, "late", nr_resident() - recent - early);
	show_u64(m, "ghosts", ghosts.nr);
	show_u64(m, "early_hits", hits(1, IN_MEMORY - 1) / HIT);
	show_u64(m, "late_hits", hits(IN_MEMORY, NR_REGIONS - 1) / HIT);
	show_u64(m, "early_point", evicting_early ? regions[early_point].edge : 0);
	show_u64(m, "late_point", evicting_early ? regions[late_point].edge : 0);
	show_u64(m, "evicted_early", nr_early);
	show_u64(m, "evicted_last", nr_last);
}

static const struct vm_policy eelru = {
	.name = "eelru",
	.summary = "EELRU: LRU, or early eviction if hits just beyond memory promise more",
	.init = eelru_init,
	.exit = eelru_exit,
	.insert = eelru_insert,
	.touch = eelru_touch,
	.remove = eelru_remove,
	.select = eelru_select,
	.putback = eelru_putback,
	.evicted = eelru_evicted,
	.forget = eelru_forget,
	.check = eelru_check,
	.show = eelru_show,
};
VM_POLICY(eelru);
