/*
 * Partitions of memory, for local replacement: which process gives up a page.
 *
 * Global replacement takes the victim from all pages, so a process that faults can take frames from
 * the others. Local replacement gives each process a partition, a number of frames (its quota). A
 * process at its quota replaces its own pages, whatever the other processes have:
 *
 *	process A            process B         unowned
 *	|a a a a a . . . .|  |b b b b b b|b    |u u . .|     . a frame of the quota that is not used
 *
 * B exceeds its quota by a page, so a page of B is evicted, although A has frames to spare.
 *
 * Each partition has a list of pages, with the next victim at its head. The order of the list is
 * the policy's: localfifo.c, locallru.c. When a frame is needed, the process that exceeds its quota
 * by the most pages gives it; if no process exceeds its quota, the process closest to it does. This
 * is local replacement: if memory is full, and the quotas add up to it, a process can only lack
 * frames of its quota if another process exceeds its own. A partition is fixed, so a process also
 * loses pages while frames are free: at each tick, all that it has above its quota, if these are
 * CLUSTER pages or more (single writes would cost a seek each). Between two ticks it can have more,
 * and a page that is being written can still be rescued by a use. With strict=0 a process loses
 * pages only when frames are needed.
 *
 * How large is a partition? For m frames and processes with the sizes s_i, whose sum is S:
 *
 *	share=0, equal          m / number of processes
 *	share=1, proportional   m * s_i / S, where s_i is mm_demand, what the process has allocated
 *	pages=N                 N for each process
 *
 * Equal partitions give init and a sleeping shell as much as a large program. Proportional ones
 * give a small program too little beside a large one, and can be had by allocating memory without
 * using it. Quotas are set at each tick, because processes begin, end and grow. A process that
 * began after the last tick does not have a quota yet, and exceeds none.
 *
 * Special cases:
 *  - One process alone has all of memory. On a machine init is a second process: with share=0 it
 *    has half of memory, with share=1 next to nothing.
 *  - If pages=N for all processes is less than memory, the rest is not used by them. If it is more,
 *    no process may reach its quota, and the one closest to it, the largest, gives up pages.
 *  - A quota is at least MIN_QUOTA pages, because one instruction can need six pages at a time. So
 *    with many small processes the quotas can add up to more than memory.
 *  - A process that sleeps, for however long, keeps its quota and its pages. If no process exceeds
 *    its quota, and it is full, it can lose a few of them before others pay.
 *  - A page that several processes map counts for its owner (page_mm) alone. After a fork parent
 *    and child have a quota each, and the shared pages count for the parent.
 *  - Unowned pages (read ahead, or only read and written by system calls) have a partition of
 *    unowned_percent of memory. They may exceed it while frames are free. The processes divide all
 *    that unowned pages do not use.
 *  - If the chosen process has no eligible page (a zone is full, or a guard spares its pages), any
 *    other partition gives one.
 *
 * A. Silberschatz, P. Galvin, G. Gagne, "Operating System Concepts", section "Allocation of
 * Frames".
 */
#ifndef LOCAL_PARTITIONS_H
#define LOCAL_PARTITIONS_H

#include "mm/policy.h"

#define MIN_QUOTA 8u
#define NO_QUOTA (1u << 30) /* of a process that began since the last tick */
#define CLUSTER 32 /* pages above the quota at which a tick trims a process */

struct local_page {
	struct list_head node;
};
POLICY_PAGE_FITS(struct local_page);

struct partition {
	struct list_head pages; /* next victim first */
	u32 nr, quota;
};

static u32 share = 1, pages, strict = 1, unowned_percent = 20;
static struct partition unowned = { .pages = LIST_HEAD_INIT(unowned.pages) };
static u64 nr_over, nr_within; /* victims from partitions above their quota; other victims */

#define PARAM_SHARE                                                                                \
	{ "share", &share, 0, 1, NULL, "1: partitions in proportion to demand; 0: equal" }
#define PARAM_PAGES                                                                                \
	{ "pages", &pages, 0, 1u << 20, "pages", "quota of each process; 0: as share says" }
#define PARAM_STRICT                                                                               \
	{ "strict", &strict, 0, 1, NULL, "1: evict all above a quota; 0: when frames are needed" }
#define PARAM_UNOWNED                                                                              \
	{ "unowned_percent", &unowned_percent, 1, 90, "%", "memory that unowned pages may have" }

static struct local_page *local_data(struct page *page)
{
	return policy_page(page);
}

/* A policy's data in an address space begins with its partition. */
static struct partition *partition_of(struct mm_struct *mm)
{
	return mm ? policy_mm(mm) : &unowned;
}

#define for_each_local(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static void partition_init(struct partition *part)
{
	INIT_LIST_HEAD(&part->pages);
	part->nr = 0;
	part->quota = NO_QUOTA;
}

static void partitions_init(void)
{
	partition_init(&unowned);
	nr_over = nr_within = 0;
}

static void enlist(struct page *page)
{
	struct partition *part = partition_of(page_mm(page));

	list_add_tail(&local_data(page)->node, &part->pages);
	part->nr++;
}

static void delist(struct page *page)
{
	list_del(&local_data(page)->node);
	partition_of(page_mm(page))->nr--;
}

static u32 quota_of(struct mm_struct *mm, u32 frames, u32 processes, u32 demand)
{
	u32 quota = pages;

	if (!pages && share)
		quota = (u64)frames * mm_demand(mm) / MAX(demand, 1u);
	else if (!pages)
		quota = frames / processes;
	return MAX(quota, MIN_QUOTA);
}

/* Divides the frames that the unowned pages leave. */
static void set_quotas(void)
{
	u32 frames = vm_frames(), processes = 0, demand = 0;

	unowned.quota = (u64)frames * unowned_percent / 100;
	frames -= MIN(unowned.nr, unowned.quota);
	for_each_local(mm)
	{
		processes++;
		demand += mm_demand(mm);
	}
	for_each_local(mm) partition_of(mm)->quota = quota_of(mm, frames, processes, demand);
}

/* Returns the number of pages above the quota; it is negative below the quota. */
static int excess(const struct partition *part)
{
	return (int)(part->nr - part->quota);
}

/* Returns the partition with the largest excess among those that have pages. Of equals it is the
 * unowned one, or the oldest process's. */
static struct partition *most_over(void)
{
	struct partition *most = &unowned;

	for_each_local(mm)
	{
		struct partition *part = partition_of(mm);

		if (part->nr && (!most->nr || excess(part) > excess(most)))
			most = part;
	}
	return most;
}

/* Returns the first eligible page for which stays() is false; with stays NULL, the first eligible
 * page. A page that stays goes to the tail, and stays() is called again if the others stay, too. */
static struct page *first_of(struct partition *part, struct vm_scan *scan,
			     bool (*stays)(struct page *))
{
	struct list_head *before = &part->pages; /* passed over so far */

	while (before->next != &part->pages && vm_scan_more(scan)) {
		struct list_head *node = before->next;
		struct page *page = policy_page_of(list_entry(node, struct local_page, node));

		if (!vm_eligible(scan, page))
			before = node;
		else if (stays && stays(page))
			list_move_tail(node, &part->pages);
		else
			return page;
	}
	return NULL;
}

static struct page *first_of_others(const struct partition *but, struct vm_scan *scan,
				    bool (*stays)(struct page *))
{
	struct page *page = but != &unowned ? first_of(&unowned, scan, stays) : NULL;

	for_each_local(mm) if (!page && partition_of(mm) != but)
		page = first_of(partition_of(mm), scan, stays);
	return page;
}

/* For select: takes a page off its list. stays: see first_of. */
static struct page *take_page(struct vm_scan *scan, bool (*stays)(struct page *))
{
	struct partition *part = scan->mm ? partition_of(scan->mm) : most_over();
	struct page *page = first_of(part, scan, stays);

	if (!page && !scan->mm)
		page = first_of_others(part, scan, stays);
	if (!page)
		return NULL;
	part = partition_of(page_mm(page));
	nr_over += excess(part) > 0;
	nr_within += excess(part) <= 0;
	delist(page);
	return page;
}

/* For surplus: returns the number of pages above the quota if it is at least a cluster, else 0. */
static u32 surplus_of(const struct partition *part)
{
	return strict && excess(part) >= CLUSTER ? excess(part) : 0;
}

static int partitions_check(void)
{
	u32 sum = unowned.nr;

	if (vm_list_length(&unowned.pages) != (int)unowned.nr)
		return -1;
	for_each_local(mm)
	{
		if (vm_list_length(&partition_of(mm)->pages) != (int)partition_of(mm)->nr)
			return -1;
		sum += partition_of(mm)->nr;
	}
	return sum;
}

static void partitions_show(struct seq_file *m)
{
	u32 owned = 0, unused = 0;

	for_each_local(mm)
	{
		struct partition *part = partition_of(mm);

		owned += part->nr;
		if (part->quota != NO_QUOTA && excess(part) < 0)
			unused -= excess(part);
	}
	show_u64(m, "of_processes", owned);
	show_u64(m, "of_none", unowned.nr);
	show_u64(m, "unused", unused);
	show_u64(m, "taken_over_quota", nr_over);
	show_u64(m, "taken_within_quota", nr_within);
}

#endif
