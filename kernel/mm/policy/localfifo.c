/*
 * Local FIFO: a process at its quota gives up the page that it has had for longest.
 *
 * Memory is divided into partitions, one for each process (local_partitions.h: quotas, and which
 * process gives up a page). Within a partition this is fifo.c: a page enters at the tail and is
 * evicted at the head, however often it is used. A process alone has all of memory, and then the
 * two policies make the same decisions.
 *
 * Local and global replacement differ in which process pays for a fault. Under fifo.c a process
 * that faults often inserts many pages, and so pushes the pages of all processes to the head: it
 * takes their frames. Here it pushes only its own pages. So the faults of a process depend on its
 * own references and on its quota, not on other processes' faults: a process that thrashes does not
 * make others thrash. The price is memory that is not used: a process that needs more than its
 * quota faults, although another one holds frames that it does not need. No fixed size is right,
 * because what a process needs changes with its phases.
 *
 * A page that passes to another process becomes the last on that process's list.
 *
 * S. Jiang and X. Zhang, "TPF: a dynamic system thrashing protection facility", Software: Practice
 * and Experience 32(3), 2002, section 6.2: local replacement needs an allocation, and equal and
 * proportional allocation do not follow a demand that changes. A. McMenamin, "Applying working set
 * heuristics to the Linux kernel", MSc report, Birkbeck, 2011: section 4 compares policies for a
 * program alone, and 8.2 says why Linux's policy is global.
 */
#include "local_partitions.h"

static const struct vm_param localfifo_params[] = {
	PARAM_SHARE, PARAM_PAGES, PARAM_STRICT, PARAM_UNOWNED, { 0 },
};

POLICY_MM_FITS(struct partition);

static int localfifo_init(void)
{
	partitions_init();
	return 0;
}

static void localfifo_mm_init(struct mm_struct *mm)
{
	partition_init(partition_of(mm));
}

static void localfifo_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			     struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enlist(page);
}

static void localfifo_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static struct page *localfifo_select(struct vm_scan *scan)
{
	return take_page(scan, NULL);
}

static void localfifo_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page);
}

static u32 localfifo_surplus(struct mm_struct *mm)
{
	return surplus_of(partition_of(mm));
}

static bool localfifo_tick(void)
{
	set_quotas();
	return false;
}

static const struct vm_policy localfifo = {
	.name = "localfifo",
	.summary = "FIFO in fixed partitions: a process replaces its own pages",
	.tick_ms = 10,
	.params = localfifo_params,
	.init = localfifo_init,
	.mm_init = localfifo_mm_init,
	.insert = localfifo_insert,
	.remove = localfifo_remove,
	.select = localfifo_select,
	.putback = localfifo_putback,
	.surplus = localfifo_surplus,
	.tick = localfifo_tick,
	.check = partitions_check,
	.show = partitions_show,
};
VM_POLICY(localfifo);
