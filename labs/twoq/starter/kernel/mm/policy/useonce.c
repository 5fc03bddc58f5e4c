/*
 * Use-once: a page that is used once must not push out pages that are used again and again.
 *
 * To build: two lists. A new page goes to the inactive one, from whose tail pages are evicted, and
 * must be seen in use there twice to get to the active one, which is protected, as in Linux from 2.4.10 on:
 *
 *	inactive, unreferenced  --used-->  inactive, referenced  --used-->  active
 *	active, referenced  --not used-->  active, unreferenced  --not used-->  inactive
 *
 * "Used" is what the accessed bit says when a scan comes by (page_referenced), or a touch. Scan the
 * active list only while the inactive one is the shorter of the two, and at priority 0 take what
 * there is. Another design will do as well, if it does as well: Johnson and Shasha's 2Q (VLDB 1994)
 * remembers pages that it has sent away; `evicted` and `forget` are there for that, and a page's
 * identity is its page_id.
 *
 * What is here already: the two lists for each zone, and select, which goes to the zone that has
 * been looked at least for its size. A scan may take pages from the zones that it names only, and
 * walking past the others would cost time. Of every page you know its zone (zone_of).
 *
 * As it stands there is one list in use, and it is a queue: FIFO.
 */
#include "mm/policy.h"

enum useonce_list { INACTIVE, ACTIVE, NR_LISTS };

struct useonce_page {
	struct list_head node;
	enum useonce_list list;
	u32 referenced;
};
POLICY_PAGE_FITS(struct useonce_page);

#define LOOK_BATCH 32

static struct useonce_zone {
	struct list_head list[NR_LISTS]; /* newest first */
	u32 nr[NR_LISTS];
	u32 nr_looked; /* pages looked at recently: the zone's share of the pressure */
} zone[VM_NR_ZONES];

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

/* A use that the kernel saw, or madvise: DONTNEED is the contrary of a use. */
static void useonce_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)page, (void)mm, (void)how;
}

static void useonce_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

/* The one that has been on the list longest, or NULL. */
static struct page *oldest(struct useonce_zone *z, enum useonce_list list)
{
	if (list_empty(&z->list[list]))
		return NULL;
	return policy_page_of(list_last_entry(&z->list[list], struct useonce_page, node));
}

/* Makes old pressure count less: when a zone was looked at four times over, all counts are halved. */
static void count_look(struct useonce_zone *z)
{
	if (++z->nr_looked < 4 * (z->nr[INACTIVE] + z->nr[ACTIVE]) + LOOK_BATCH)
		return;
	for (int i = 0; i < VM_NR_ZONES; i++)
		zone[i].nr_looked /= 2;
}

/* The first page from the tail of the inactive list that the scan may have. */
static struct page *shrink_inactive(struct useonce_zone *z, struct vm_scan *scan)
{
	u32 left = z->nr[INACTIVE];

	while (left-- && vm_scan_more(scan)) {
		struct page *page = oldest(z, INACTIVE);

		count_look(z);
		delist(page);
		if (vm_eligible(scan, page))
			return page;
		enlist(page, INACTIVE);
	}
	return NULL;
}

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

static struct page *useonce_select(struct vm_scan *scan)
{
	struct useonce_zone *z;
	u32 tried = 0;

	while ((z = next_zone(scan, tried))) {
		struct page *page = shrink_inactive(z, scan);

		if (page)
			return page;
		tried |= 1u << (z - zone);
	}
	return NULL;
}

/* You chose it, but it stays: USED if it was used while it was written. */
static void useonce_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page, INACTIVE);
}

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
}

static const struct vm_policy useonce = {
	.name = "useonce",
	.summary = "active and inactive lists, global",
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
