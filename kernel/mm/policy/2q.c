/*
 * 2Q as in Linux 3.0: an active and an inactive list for each kind of page in each zone.
 *
 * A page of a file that is read once should not push out pages that are used again and again: it
 * must first prove that it is used. A program's own (anonymous) pages are costly to write, and most
 * are used again. So each kind has two lists and rules of its own. Pages are evicted at the tail of
 * an inactive list. *Referenced* is a flag of the page; *used* is the value of the accessed bits
 * when the policy looks at them, which clears them.
 *
 *	event                       anonymous         of a file
 *	new                         active            inactive
 *	read back from swap         inactive          -
 *	read or write finds it      becomes referenced; an inactive page that already was
 *	                            becomes active and unreferenced (mark_page_accessed)
 *	its owner unmaps it, used   -                 as for read or write
 *	tail of inactive, used      active            referenced, and round once more;
 *	                                              active if it was referenced before
 *	tail of inactive, not used  evicted           evicted, but round once more if it was
 *	                                              referenced and is dirty
 *	tail of active              inactive, used    inactive, but round again if it is
 *	                            or not            used and the text of a program
 *
 * An active list gives up pages only while it is too long. For pages of files, this means longer
 * than the inactive list. For anonymous pages, it means longer than `ratio` times the inactive list
 * (1 in a zone below 1 GiB, else the square root of ten times its size in GiB).
 *
 * Which kind must give up a page (get_scan_count)? Both inactive lists are scanned. The share of
 * each is in proportion to its length, times swappiness for anonymous pages or 200 - swappiness for
 * files, times the number of pages recently scanned for each page found in use (scanned / rotated):
 * the kind whose pages are mostly found in use is left alone.
 *
 * The access that faults. In Linux a page counts as used once a fault has mapped it. Here that
 * access sets no accessed bit, and `young` stands for it. This matters: a page read back from swap
 * becomes active at its first inspection. So the active list is always fed, and gives up the pages
 * of a phase that is over.
 *
 * The policy is global: the owner of a page plays no role. When many processes cycle over more
 * pages than memory holds, each one's faults evict the others' pages.
 *
 * Source: Linux 3.0 (2011), mm/vmscan.c (shrink_active_list, page_check_references, get_scan_count)
 * and mm/swap.c (mark_page_accessed, lru_deactivate_fn); A. McMenamin's report of that year
 * measures it. Other versions differ: before 2.6.29 a fault called mark_page_accessed, too; from
 * 3.3 on text becomes active at its first use, and so does a page of a file that several mappings
 * used. (Johnson and Shasha's 2Q of 1994 is another algorithm; useonce.c is the older Linux with
 * one kind of page.)
 *
 * Differences from Linux. Linux works on 32 pages of a list at a time, this policy on one, and it
 * looks at an active list as often as the list's length requires. A page that was read ahead goes
 * to the head of its list when it is claimed. Linux marks a used page when any of its mappings
 * ends, this policy only when the owner's ends; a use through another mapping is seen at the next
 * inspection. At priority 0 uses do not count. Shared memory is on the anonymous lists, and is
 * marked as a page of a file is; one use at the tail makes it active, as from 3.5 on (in 3.0 it
 * must be used twice). Left out: memory cgroups, lumpy reclaim, and scanning only anonymous pages
 * when hardly any pages of files are left (the amount of free memory is not known here).
 */
#include "mm/policy.h"

enum twoq_kind { ANON, FILES, NR_KINDS };
enum twoq_list { INACTIVE, ACTIVE, NR_LISTS };

struct twoq_page {
	struct list_head node;
	struct twoq_lists *lists; /* those of the page's zone and kind */
	enum twoq_list list : 8;
	bool referenced;
	bool young; /* mapped by a fault since the last look */
};
POLICY_PAGE_FITS(struct twoq_page);

#define CLUSTER 32u          /* upper bound on active pages looked at for one inactive page */
#define MOST_SCANNED 1000000 /* scanned is halved here at the latest: products fit 32 bits */

struct twoq_lists {
	struct twoq_zone *zone;
	enum twoq_kind kind;
	struct list_head list[NR_LISTS]; /* newest first */
	u32 nr[NR_LISTS];
	u32 ratio;            /* active pages allowed for each inactive page */
	u32 scanned, rotated; /* pages looked at recently; those found in use */
};

static struct twoq_zone {
	struct twoq_lists kind[NR_KINDS];
	u32 nr;        /* pages in the zone */
	u32 nr_looked; /* pages looked at recently: the zone's share of the pressure */
	u64 turn;      /* weight that anonymous pages have saved up; see get_scan_count */
} zone[VM_NR_ZONES];

static u64 nr_activated, nr_deactivated;
static u32 swappiness = 60;

static struct twoq_page *twoq_data(struct page *page)
{
	return policy_page(page);
}

static void enlist(struct twoq_lists *l, struct twoq_page *p, enum twoq_list list)
{
	p->list = list;
	list_add(&p->node, &l->list[list]);
	l->nr[list]++;
	l->zone->nr++;
}

static void delist(struct twoq_lists *l, struct twoq_page *p)
{
	list_del(&p->node);
	l->nr[p->list]--;
	l->zone->nr--;
}

static void move(struct twoq_lists *l, struct twoq_page *p, enum twoq_list to)
{
	l->nr[p->list]--;
	l->nr[to]++;
	p->list = to;
	list_move(&p->node, &l->list[to]);
}

/* Makes old looks count less. Called when there are many. */
static void halve(struct twoq_lists *l)
{
	l->scanned /= 2;
	l->rotated /= 2;
}

static void count(struct twoq_lists *l, bool in_use)
{
	l->scanned++;
	l->rotated += in_use;
	if (l->scanned >= MOST_SCANNED)
		halve(l);
}

static inline void activate(struct twoq_lists *l, struct twoq_page *p)
{
	nr_activated++;
	move(l, p, ACTIVE);
}

static void mark_page_accessed(struct twoq_page *p)
{
	if (p->list == INACTIVE && p->referenced) {
		p->referenced = false;
		count(p->lists, true);
		activate(p->lists, p);
	} else {
		p->referenced = true;
	}
}

/* Returns the number of active anonymous pages allowed for each inactive one in a zone. */
static u32 ratio_of(u32 nr_pages)
{
	u32 gib = nr_pages >> 18, root = 0;

	while ((root + 1) * (root + 1) <= 10 * gib)
		root++;
	return MAX(root, 1u);
}

static int twoq_init(void)
{
	u32 nr_pages[VM_NR_ZONES] = { 0 };

	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		nr_pages[page_zone_index(pfn_page(pfn))]++;
	for (int i = 0; i < VM_NR_ZONES; i++) {
		zone[i] = (struct twoq_zone){ 0 };
		for (int k = 0; k < NR_KINDS; k++) {
			zone[i].kind[k].zone = &zone[i];
			zone[i].kind[k].kind = k;
			zone[i].kind[k].ratio = k == ANON ? ratio_of(nr_pages[i]) : 1;
			for (int l = 0; l < NR_LISTS; l++)
				INIT_LIST_HEAD(&zone[i].kind[k].list[l]);
		}
	}
	nr_activated = nr_deactivated = 0;
	return 0;
}

static void twoq_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	struct twoq_page *p = twoq_data(page);
	struct twoq_lists *l = &zone[page_zone_index(page)].kind[ANON];
	bool active = !from.store;

	if (unlikely(from.store > 1)) /* 1 is the swap area, 0 a new page of a program */
		l += page_is_file(page) ? FILES : ANON;
	if (how != VM_IN_PREFETCH && how != VM_IN_ADOPT) {
		p->young = mm;
		p->referenced = !mm; /* inserted by a read, which calls mark_page_accessed */
	}
	p->lists = l;
	enlist(l, p, active ? ACTIVE : INACTIVE);
	count(l, active);
}

/* Moves to the tail of the inactive list, as unused. (In Linux a dirty page is written first.) */
static void deactivate(struct page *page)
{
	struct twoq_page *p = twoq_data(page);

	page_referenced(page);
	p->referenced = p->young = false;
	count(p->lists, false);
	move(p->lists, p, INACTIVE);
	list_move_tail(&p->node, &p->lists->list[INACTIVE]);
}

static void twoq_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_MINOR)
		twoq_data(page)->young = true;
	else if (how == VM_TOUCH_IO)
		mark_page_accessed(twoq_data(page));
	else if (how == VM_TOUCH_DONTNEED)
		deactivate(page);
}

static void twoq_demote(struct page *page, enum vm_demote how)
{
	struct twoq_page *p = twoq_data(page);

	if (how == VM_DEACTIVATE && p->list == ACTIVE && !p->referenced)
		move(p->lists, p, INACTIVE);
	p->referenced = false;
}

static void twoq_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(twoq_data(page)->lists, twoq_data(page));
}

/* When a mapping of a file or of shared memory ends, Linux marks the pages that were used through
 * it (zap_pte_range). */
static void twoq_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	struct twoq_page *p = twoq_data(page);

	(void)to;
	if (!from || page_id_of(page).store <= 1)
		return;
	if (page_referenced(page) || p->young)
		mark_page_accessed(p);
	p->young = false;
}

static struct twoq_page *oldest(struct twoq_lists *l, enum twoq_list list)
{
	return list_last_entry(&l->list[list], struct twoq_page, node);
}

/* Was the page used? Clears what it reads. Old pressure counts less: when a zone's pages have been
 * looked at four times over, all zones halve their counts. (Inline: called at every look.) */
static inline bool was_used(struct twoq_lists *l, struct twoq_page *p)
{
	bool used = page_referenced(policy_page_of(p)) | p->young;
	struct twoq_zone *z = l->zone;

	p->young = false;
	if (++z->nr_looked >= 4 * z->nr + CLUSTER)
		for (int i = 0; i < VM_NR_ZONES; i++)
			zone[i].nr_looked /= 2;
	return used;
}

static bool is_too_long(const struct twoq_lists *l)
{
	return l->nr[ACTIVE] > l->nr[INACTIVE] * l->ratio;
}

/* Linux scans lists in proportion to their lengths. So each inactive page takes active / inactive
 * active pages with it, as long as the active list was too long at the start and still is. */
static void shrink_active(struct twoq_lists *l, struct vm_scan *scan)
{
	u32 active = l->nr[ACTIVE], inactive = l->nr[INACTIVE];

	for (u32 n = 0; vm_scan_more(scan);) {
		struct twoq_page *p = oldest(l, ACTIVE);
		bool used = was_used(l, p);

		count(l, used);
		if (l->kind == FILES && used && page_is_executable(policy_page_of(p))) {
			list_move(&p->node, &l->list[ACTIVE]);
		} else {
			nr_deactivated++;
			move(l, p, INACTIVE);
		}
		n++;
		if (!is_too_long(l) || n > active / (inactive + 1) || n == CLUSTER)
			return;
	}
}

/* Called before each look at an inactive page. */
static void balance(struct twoq_lists *l, struct vm_scan *scan)
{
	u32 inactive = l->nr[INACTIVE], active = l->nr[ACTIVE];

	if (active > inactive * l->ratio)
		shrink_active(l, scan);
	if (l->scanned > (inactive + active) / 4)
		halve(l);
}

/* Returns true if the page at the tail stays in memory; then it has been moved. */
static bool page_check_references(struct twoq_lists *l, struct twoq_page *p)
{
	bool used = was_used(l, p), referenced = p->referenced;
	bool activates = used && (l->kind == ANON || referenced);

	p->referenced = used && l->kind == FILES; /* even if the page becomes active */
	count(l, activates);
	if (activates)
		activate(l, p);
	else if (used || (referenced && l->kind == FILES && page_dirty(policy_page_of(p))))
		list_move(&p->node, &l->list[INACTIVE]);
	else
		return false;
	return true;
}

/* Looks at the oldest inactive page. Returns NULL if that page stays. */
static struct page *shrink_inactive(struct twoq_lists *l, const struct vm_scan *scan)
{
	struct twoq_page *p = oldest(l, INACTIVE);

	if (!vm_eligible(scan, policy_page_of(p))) {
		list_move(&p->node, &l->list[INACTIVE]);
		return NULL;
	}
	if (page_check_references(l, p))
		return NULL;
	delist(l, p);
	return policy_page_of(p);
}

static u64 weight(const struct twoq_lists *l, u32 priority)
{
	return (u64)l->nr[INACTIVE] * ((priority + 1) * (l->scanned + 1) / (l->rotated + 1));
}

/* At each call, anonymous pages save up their weight; they are chosen once it reaches the weight of
 * both kinds. Most zones have pages of one kind only. */
static out_of_line struct twoq_lists *get_scan_count(struct twoq_zone *z)
{
	struct twoq_lists *anon = &z->kind[ANON], *files = &z->kind[FILES];
	u64 mine = weight(anon, swappiness), both = mine + weight(files, 200 - swappiness);

	z->turn = MIN(z->turn, both) + mine;
	if (z->turn < both)
		return files;
	z->turn -= both;
	return anon;
}

/* Returns the kind to look at next, or NULL if both inactive lists are empty. */
static struct twoq_lists *next_kind(struct twoq_zone *z)
{
	struct twoq_lists *anon = &z->kind[ANON], *files = &z->kind[FILES];

	if (anon->nr[INACTIVE] && files->nr[INACTIVE])
		return get_scan_count(z);
	if (files->nr[INACTIVE])
		return files;
	return anon->nr[INACTIVE] ? anon : NULL;
}

/* Returns the zone of the scan that has been looked at least in relation to its size. */
static struct twoq_zone *next_zone(const struct vm_scan *scan)
{
	struct twoq_zone *best = NULL;
	u32 zones = scan->zones;

	for (struct twoq_zone *z = zone; z < &zone[VM_NR_ZONES]; z++, zones >>= 1)
		if (zones & 1 && z->nr &&
		    (!best || (u64)z->nr_looked * best->nr < (u64)best->nr_looked * z->nr))
			best = z;
	return best;
}

/* At priority 0: returns the oldest eligible page, used or not. */
static struct page *take_any(struct twoq_lists *l, enum twoq_list list, struct vm_scan *scan)
{
	for (u32 n = l->nr[list]; n && vm_scan_more(scan); n--) {
		struct twoq_page *p = oldest(l, list);

		if (vm_eligible(scan, policy_page_of(p))) {
			delist(l, p);
			return policy_page_of(p);
		}
		list_move(&p->node, &l->list[list]);
	}
	return NULL;
}

static struct page *take_from_anywhere(struct vm_scan *scan)
{
	struct page *page = NULL;

	for (int list = INACTIVE; list < NR_LISTS; list++)
		for (int kind = NR_KINDS - 1; kind >= 0; kind--)
			for (int i = 0; i < VM_NR_ZONES && !page; i++)
				if (scan->zones >> i & 1)
					page = take_any(&zone[i].kind[kind], list, scan);
	return page;
}

static struct page *twoq_select(struct vm_scan *scan)
{
	struct twoq_zone *z;

	if (!scan->priority)
		return take_from_anywhere(scan);
	z = next_zone(scan);
	while (z && vm_scan_more(scan)) {
		struct twoq_lists *l;
		struct page *page;

		balance(&z->kind[ANON], scan);
		if (z->kind[FILES].nr[ACTIVE] | z->kind[FILES].scanned)
			balance(&z->kind[FILES], scan);
		l = next_kind(z);
		page = l ? shrink_inactive(l, scan) : NULL;
		if (page)
			return page;
	}
	return NULL;
}

static void twoq_putback(struct page *page, enum vm_put why)
{
	if (why == VM_PUT_USED)
		twoq_data(page)->young = true;
	enlist(twoq_data(page)->lists, twoq_data(page), why == VM_PUT_NOSWAP ? ACTIVE : INACTIVE);
}

static int twoq_check(void)
{
	int n = 0;

	for (int i = 0; i < VM_NR_ZONES; i++)
		for (int k = 0; k < NR_KINDS; k++)
			for (int l = 0; l < NR_LISTS; l++) {
				struct twoq_lists *lists = &zone[i].kind[k];

				if (vm_list_length(&lists->list[l]) != (int)lists->nr[l])
					return -1;
				n += lists->nr[l];
			}
	return n;
}

static void twoq_show(struct seq_file *m)
{
	static const char *const names[VM_NR_ZONES][NR_KINDS][NR_LISTS] = {
		{ { "zone0_inactive", "zone0_active" },
		  { "zone0_inactive_file", "zone0_active_file" } },
		{ { "zone1_inactive", "zone1_active" },
		  { "zone1_inactive_file", "zone1_active_file" } },
		{ { "zone2_inactive", "zone2_active" },
		  { "zone2_inactive_file", "zone2_active_file" } },
	};

	for (int i = 0; i < VM_NR_ZONES; i++)
		for (int k = 0; k < NR_KINDS; k++)
			for (int l = 0; l < NR_LISTS; l++)
				show_u64(m, names[i][k][l], zone[i].kind[k].nr[l]);
	show_u64(m, "activated", nr_activated);
	show_u64(m, "deactivated", nr_deactivated);
}

static const struct vm_param twoq_params[] = {
	{ "swappiness", &swappiness, 0, 100, NULL,
	  "weight of anonymous pages; weight of files is 200 minus this" },
	{ 0 },
};

static const struct vm_policy twoq = {
	.name = "2q",
	.summary = "Linux 3.0: active and inactive lists, for programs' pages and for files",
	.params = twoq_params,
	.init = twoq_init,
	.insert = twoq_insert,
	.touch = twoq_touch,
	.demote = twoq_demote,
	.remove = twoq_remove,
	.moved = twoq_moved,
	.select = twoq_select,
	.putback = twoq_putback,
	.check = twoq_check,
	.show = twoq_show,
};
VM_POLICY(twoq);
