/*
 * Use-once, the policy of Linux from 2.4.10 on: two lists, and a referenced flag.
 *
 * A page that is used once should not push out pages that are used again and again. So a new page
 * goes to the inactive list, from whose tail pages are evicted. There it must prove that it is used
 * to get to the active list, which is protected:
 *
 *	inactive, unreferenced  --used-->  inactive, referenced  --used-->  active
 *	active, referenced  --not used-->  active, unreferenced  --not used-->  inactive
 *
 * (mark_page_accessed in Linux's mm/swap.c; figure 1.1 of McMenamin's report.) "Used" means that a
 * scan finds the accessed bit set, or that a minor fault occurs. The active list is scanned only
 * while the inactive one is the shorter of the two. Zones share the pressure in proportion to their
 * sizes.
 *
 * The policy is global: the owner of a page plays no role. So it can hold on to pages of a phase
 * that is over, and when many processes cycle over more than memory holds, each evicts the other
 * processes' pages.
 *
 * All pages are treated by the rules that Linux has for pages of files, anonymous ones too. 2q.c is
 * Linux 3.0 with both kinds. While the inactive list is the longer one, no page leaves the active
 * one, and its pages may be dead. (That rule is Linux's from 2.6.31 on, inactive_file_is_low;
 * before, active pages were looked at whenever inactive ones were: in 2.4 often enough to keep the
 * active list at two thirds of all.)
 */
#include "mm/policy.h"

enum useonce_list { INACTIVE, ACTIVE, NR_LISTS };

struct useonce_page {
	struct list_head node;
	enum useonce_list list;
	u32 referenced;
};
POLICY_PAGE_FITS(struct useonce_page);

#define ACTIVE_BATCH 32

static struct useonce_zone {
	struct list_head list[NR_LISTS]; /* newest first */
	u32 nr[NR_LISTS];
	u32 nr_looked; /* pages looked at recently: the zone's share of the pressure */
} zone[VM_NR_ZONES];

static u64 nr_activated, nr_deactivated;

static struct useonce_page *useonce_data(struct page *page)
{
	return policy_page(page);
}

static struct useonce_zone *zone_of(struct page *page)
{
	return &zone[page_zone_index(page)];
}

static void enlist(struct page *page, enum useonce_list list)
{
	struct useonce_zone *z = zone_of(page);

	useonce_data(page)->list = list;
	list_add(&useonce_data(page)->node, &z->list[list]);
	z->nr[list]++;
}

static void delist(struct page *page)
{
	list_del(&useonce_data(page)->node);
	zone_of(page)->nr[useonce_data(page)->list]--;
}

static int useonce_init(void)
{
	for (int i = 0; i < VM_NR_ZONES; i++)
		for (int l = 0; l < NR_LISTS; l++)
			INIT_LIST_HEAD(&zone[i].list[l]);
	return 0;
}

static void useonce_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			   struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enlist(page, INACTIVE);
}

/* lab: touch */
static void move(struct page *page, enum useonce_list to)
{
	delist(page);
	enlist(page, to);
}

static void mark_page_accessed(struct page *page)
{
	struct useonce_page *p = useonce_data(page);

	if (p->list == INACTIVE && p->referenced) {
		p->referenced = false;
		nr_activated++;
		move(page, ACTIVE);
	} else {
		p->referenced = true;
	}
}

static void useonce_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_DONTNEED)
		useonce_data(page)->referenced = false;
	else
		mark_page_accessed(page);
}
/* lab: end */

static void useonce_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

/* Returns the page that has been on the list longest, or NULL. */
static struct page *oldest(struct useonce_zone *z, enum useonce_list list)
{
	if (list_empty(&z->list[list]))
		return NULL;
	return policy_page_of(list_last_entry(&z->list[list], struct useonce_page, node));
}

/* Makes old pressure count less: when a zone was looked at four times over, all counts are halved. */
static void count_look(struct useonce_zone *z)
{
	if (++z->nr_looked < 4 * (z->nr[INACTIVE] + z->nr[ACTIVE]) + ACTIVE_BATCH)
		return;
	for (int i = 0; i < VM_NR_ZONES; i++)
		zone[i].nr_looked /= 2;
}

/* lab: shrink */
/* Moves unused pages from the active to the inactive list, while the inactive one is shorter. At
 * priority 0 moves all pages. */
static void shrink_active(struct useonce_zone *z, struct vm_scan *scan)
{
	bool all = !scan->priority;

	for (u32 n = all ? z->nr[ACTIVE] : ACTIVE_BATCH;
	     n && (all || z->nr[INACTIVE] < z->nr[ACTIVE]); n--) {
		struct page *page = oldest(z, ACTIVE);
		struct useonce_page *p = useonce_data(page);
		bool used;

		if (!vm_scan_more(scan))
			return;
		count_look(z);
		used = page_referenced(page) || p->referenced;
		p->referenced = false;
		if (used && scan->priority > 0) {
			list_move(&p->node, &z->list[ACTIVE]);
		} else {
			nr_deactivated++;
			move(page, INACTIVE);
		}
	}
}

/* Returns a page to evict, or NULL. At priority 0 looks at every page once, used or not. */
static struct page *shrink_inactive(struct useonce_zone *z, struct vm_scan *scan)
{
	u32 left = z->nr[INACTIVE];

	while (z->nr[INACTIVE] && (scan->priority || left--) && vm_scan_more(scan)) {
		struct page *page = oldest(z, INACTIVE);

		count_look(z);
		if (!vm_eligible(scan, page)) {
			move(page, INACTIVE);
		} else if (scan->priority && page_referenced(page)) {
			move(page, INACTIVE);
			mark_page_accessed(page);
		} else {
			delist(page);
			return page;
		}
	}
	return NULL;
}
/* lab: end */

/* Returns the zone of the scan that has been looked at least in relation to its size. */
static struct useonce_zone *next_zone(const struct vm_scan *scan, u32 tried)
{
	struct useonce_zone *best = NULL;
	u64 least = 0;

	for (int i = 0; i < VM_NR_ZONES; i++) {
		struct useonce_zone *z = &zone[i];
		u32 size = z->nr[INACTIVE] + z->nr[ACTIVE];
		u64 pressure;

		if (!size || !((scan->zones & ~tried) >> i & 1))
			continue;
		pressure = ((u64)z->nr_looked << 8) / size;
		if (!best || pressure < least) {
			best = z;
			least = pressure;
		}
	}
	return best;
}

/* lab: select */
static struct page *useonce_select(struct vm_scan *scan)
{
	struct useonce_zone *z;
	u32 tried = 0;

	while ((z = next_zone(scan, tried))) {
		struct page *page;

		shrink_active(z, scan);
		page = shrink_inactive(z, scan);
		if (page)
			return page;
		if (!z->nr[ACTIVE] || !vm_scan_more(scan))
			tried |= 1u << (z - zone);
	}
	return NULL;
}

static void useonce_putback(struct page *page, enum vm_put why)
{
	useonce_data(page)->referenced = false;
	enlist(page, why == VM_PUT_USED ? ACTIVE : INACTIVE);
}
/* lab: end */

static int useonce_check(void)
{
	int n = 0;

	for (int i = 0; i < VM_NR_ZONES; i++)
		for (int l = 0; l < NR_LISTS; l++) {
			if (vm_list_length(&zone[i].list[l]) != (int)zone[i].nr[l])
				return -1;
			n += zone[i].nr[l];
		}
	return n;
}

static void useonce_show(struct seq_file *m)
{
	static const char *const names[VM_NR_ZONES][NR_LISTS] = {
		{ "zone0_inactive", "zone0_active" },
		{ "zone1_inactive", "zone1_active" },
		{ "zone2_inactive", "zone2_active" },
	};

	for (int i = 0; i < VM_NR_ZONES; i++) {
		show_u64(m, names[i][ACTIVE], zone[i].nr[ACTIVE]);
		show_u64(m, names[i][INACTIVE], zone[i].nr[INACTIVE]);
	}
	show_u64(m, "activated", nr_activated);
	show_u64(m, "deactivated", nr_deactivated);
}

static const struct vm_policy useonce = {
	.name = "useonce",
	.summary = "use-once: an active and an inactive list, two uses to get active",
	.init = useonce_init,
	.insert = useonce_insert,
	.touch = useonce_touch,
	.remove = useonce_remove,
	.select = useonce_select,
	.putback = useonce_putback,
	.check = useonce_check,
	.show = useonce_show,
};
VM_POLICY(useonce);
