/*
 * The working set: Denning's policy (P. Denning, "The working set model for program behavior",
 * CACM 11(5), 1968), with its rule for admitting processes.
 *
 * The working set of a process is the set of pages it used in the last tau of its own virtual time
 * (mm_vtime: time in user mode). A process runs only while its working set is in memory; if the
 * working sets of all that run do not fit, one of them must wait.
 *
 * To build, in this order:
 *
 *	measure   at every tick, for each process that has run since the last one: read the accessed bits,
 *	          write down the virtual time of the pages that were used, and count the working set.
 *	          Moving used pages to the tail keeps the oldest at the head.
 *	release   surplus: the number of pages that have not been used for tau. The kernel evicts them at
 *	          once, by a scan with trim set, which may take no other pages. With strict=0 they stay
 *	          until a frame is needed.
 *	overflow  a frame is needed, and no page has left any working set: an active process must wait,
 *	          and its pages are evicted. Choose first a process that sleeps anyway (mm_sleeps), then
 *	          the one activated last, which has lost least.
 *	admit     may_run: a waiting process becomes active when its claim fits beside the claims of the
 *	          active processes, or when no other process is active. The claim is the size of the
 *	          working set; after activation, until tau has passed, it is what it was before: the pages
 *	          must first be read back. A process that claims next to nothing never waits: a shell must
 *	          answer.
 *	patience  no process waits for ever. One that has waited for patience_ms is next, and takes the
 *	          place of one that has been active for as long.
 *
 * A single process that is larger than memory gives up its own least recently used page, so that it
 * makes progress.
 *
 * The starter has: a list of pages for each process, and one of unowned pages, which were read ahead;
 * the parameters; check and show. It reads no accessed bit, lets every process run, and evicts the
 * oldest page of the process that has the most.
 */
#include "mm/policy.h"

struct ws_page {
	struct list_head node;
	u32 used_us; /* low bits of the virtual time of its last use */
};
POLICY_PAGE_FITS(struct ws_page);

struct ws_mm {
	struct list_head pages; /* least recently used first */
	u32 nr; /* length of pages */
	u32 size; /* working-set size at the last tick, pages */
	u32 claim;
	bool waiting;
};
POLICY_MM_FITS(struct ws_mm);

static u32 tau_ms = 200, patience_ms = 30000, strict = 1;
static LIST_HEAD(unclaimed); /* read ahead, still unowned: oldest first */
static u32 nr_unclaimed;

static const struct vm_param ws_params[] = {
	{ "tau_ms", &tau_ms, 1, 60000, "ms", "window of the working set, process virtual time" },
	{ "patience_ms", &patience_ms, 100, 600000, "ms",
	  "turn of active processes while others wait" },
	{ "strict", &strict, 0, 1, NULL, "1: evict leaving pages; 0: when frames are needed" },
	{ 0 },
};

static struct ws_page *ws_data(struct page *page)
{
	return policy_page(page);
}

static struct ws_mm *ws_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

static u32 vtime_us(struct mm_struct *mm)
{
	return mm_vtime(mm) / 1000;
}

#define for_each_ws(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static void enlist(struct page *page)
{
	struct mm_struct *mm = page_mm(page);

	if (!mm) {
		list_add_tail(&ws_data(page)->node, &unclaimed);
		nr_unclaimed++;
		return;
	}
	ws_data(page)->used_us = vtime_us(mm);
	list_add_tail(&ws_data(page)->node, &ws_mm(mm)->pages);
	ws_mm(mm)->nr++;
}

static void delist(struct page *page)
{
	struct mm_struct *mm = page_mm(page);

	list_del(&ws_data(page)->node);
	if (mm)
		ws_mm(mm)->nr--;
	else
		nr_unclaimed--;
}

static void ws_mm_init(struct mm_struct *mm)
{
	INIT_LIST_HEAD(&ws_mm(mm)->pages);
}

static void ws_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enlist(page);
}

static void ws_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

/* The first page of a list that the scan may take. */
static struct page *take(struct list_head *pages, struct vm_scan *scan)
{
	struct ws_page *p;

	list_for_each_entry(p, pages, node) {
		if (!vm_scan_more(scan))
			return NULL;
		if (vm_eligible(scan, policy_page_of(p)))
			return policy_page_of(p);
	}
	return NULL;
}

static struct page *find_page(struct vm_scan *scan)
{
	struct mm_struct *largest = NULL;
	struct page *page = take(&unclaimed, scan);

	for_each_ws(mm)
		if (!largest || ws_mm(mm)->nr > ws_mm(largest)->nr)
			largest = mm;
	if (!page && largest)
		page = take(&ws_mm(largest)->pages, scan);
	for_each_ws(mm)
		page = page ?: take(&ws_mm(mm)->pages, scan);
	return page;
}

static struct page *ws_select(struct vm_scan *scan)
{
	struct page *page = find_page(scan);

	if (page)
		delist(page);
	return page;
}

static void ws_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page);
}

/* Every 50 ms of machine time; true would mean: call me again at once. */
static bool ws_tick(void)
{
	return false;
}

/* How many of its pages shall go now? Asked after each tick. */
static u32 ws_surplus(struct mm_struct *mm)
{
	(void)mm;
	return 0;
}

/* May this process run? Asked after its faults, after each tick, and while it waits. */
static bool ws_may_run(struct mm_struct *mm)
{
	(void)mm;
	return true;
}

static int ws_check(void)
{
	int sum = nr_unclaimed;

	if (vm_list_length(&unclaimed) != (int)nr_unclaimed)
		return -1;
	for_each_ws(mm) {
		if (vm_list_length(&ws_mm(mm)->pages) != (int)ws_mm(mm)->nr)
			return -1;
		sum += ws_mm(mm)->nr;
	}
	return sum;
}

static void ws_show(struct seq_file *m)
{
	u32 active = 0, waiting = 0, sets = 0, claims = 0;

	for_each_ws(mm) {
		waiting += ws_mm(mm)->waiting;
		active += !ws_mm(mm)->waiting;
		sets += ws_mm(mm)->size;
		claims += ws_mm(mm)->waiting ? 0 : ws_mm(mm)->claim;
	}
	show_u64(m, "working_sets", sets);
	show_u64(m, "claims", claims);
	show_u64(m, "frames", vm_frames());
	show_u64(m, "active", active);
	show_u64(m, "waiting", waiting);
}

static const struct vm_policy ws = {
	.name = "ws",
	.summary = "Denning's working set: processes that do not fit wait",
	.tick_ms = 50,
	.params = ws_params,
	.mm_init = ws_mm_init,
	.insert = ws_insert,
	.remove = ws_remove,
	.select = ws_select,
	.putback = ws_putback,
	.surplus = ws_surplus,
	.may_run = ws_may_run,
	.tick = ws_tick,
	.check = ws_check,
	.show = ws_show,
};
VM_POLICY(ws);
