/*
 * Local LRU: a process at its quota gives up the page that it has not used for longest.
 *
 * Memory is divided into partitions, one for each process (local_partitions.h: quotas, and which
 * process gives up a page; localfifo.c: local against global replacement). Within a partition pages
 * are in the order of their last known use, and the page at the head is evicted.
 *
 * LRU must know the order of all uses; the kernel only sees that a page was used since it last
 * looked. So the policy looks at a process's pages every sample_ms of the time that this process
 * itself has run. The pages that were used move to the tail, in their old order:
 *
 *	before the look     A   B*  C   D*  E         * used since the last look
 *	after it            A   C   E   B   D         the next victim is A
 *	A is used           A*  C   E   B   D         select moves A to the tail and evicts C
 *
 * This is LRU up to the interval: pages used in different intervals are in the right order; pages
 * used in the same interval stay in the order that they had. select reads the bit of its victim
 * once more, so that a use since the last look saves the page (second chance).
 *
 * The process's own time is the right clock: a process that waits does not use pages, so looking at
 * them would be useless. The cost is a share of the time that programs run. On a machine that
 * thrashes programs hardly run, so the policy hardly looks, and is nearly a CLOCK for each process:
 * a use since the last chance is all that it knows. (ws.c looks in the same way, but to decide how
 * many pages a process keeps. Here the looks only decide their order.) Uses by the system calls
 * read and write are reported at once, so their order is exact.
 *
 * More differences from LRU: a use by another process than the owner is noticed only by the owner's
 * next look, or by select; and a page that passes to another process becomes the last on that
 * process's list, as if used just now. Looks come at ticks, so an interval below 10 ms is 10 ms.
 *
 * S. Jiang and X. Zhang, "TPF: a dynamic system thrashing protection facility", Software: Practice
 * and Experience 32(3), 2002, section 6.2. A. McMenamin, "Applying working set heuristics to the
 * Linux kernel", MSc report, Birkbeck, 2011, section 4: lifetime functions of programs under LRU.
 */
#include "local_partitions.h"

struct locallru_mm {
	struct partition part; /* first, as partition_of requires */
	u32 looked_ms;        /* the process's virtual time at the last look at its pages */
};
POLICY_MM_FITS(struct locallru_mm);

static u32 sample_ms = 10;
static u64 nr_looked, nr_spared;

static const struct vm_param locallru_params[] = {
	PARAM_SHARE,
	PARAM_PAGES,
	PARAM_STRICT,
	PARAM_UNOWNED,
	{ "sample_ms", &sample_ms, 1, 60000, "ms",
	  "interval of looks at a process's pages; process virtual time" },
	{ 0 },
};

static struct locallru_mm *locallru_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

static u32 vtime_ms(struct mm_struct *mm)
{
	return mm_vtime(mm) / 1000000;
}

static int locallru_init(void)
{
	partitions_init();
	nr_looked = nr_spared = 0;
	return 0;
}

static void locallru_mm_init(struct mm_struct *mm)
{
	partition_init(partition_of(mm));
	locallru_mm(mm)->looked_ms = vtime_ms(mm);
}

static void locallru_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			    struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enlist(page);
}

static void locallru_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct list_head *pages = &partition_of(page_mm(page))->pages;

	(void)mm;
	page_referenced(page); /* this use is recorded here */
	if (how == VM_TOUCH_DONTNEED)
		list_move(&local_data(page)->node, pages);
	else
		list_move_tail(&local_data(page)->node, pages);
}

static void locallru_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static bool was_used(struct page *page)
{
	bool used = page_referenced(page);

	nr_spared += used;
	return used;
}

static struct page *locallru_select(struct vm_scan *scan)
{
	return take_page(scan, was_used);
}

static void locallru_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page);
}

static u32 locallru_surplus(struct mm_struct *mm)
{
	return surplus_of(partition_of(mm));
}

/* Moves the pages that were used to the tail; they keep their order. */
static void look_at(struct partition *part)
{
	struct local_page *p, *next;
	u32 left = part->nr;

	nr_looked += left;
	list_for_each_entry_safe(p, next, &part->pages, node) {
		if (!left--)
			return;
		if (page_referenced(policy_page_of(p)))
			list_move_tail(&p->node, &part->pages);
	}
}

static bool locallru_tick(void)
{
	set_quotas();
	for_each_local(mm)
	{
		u32 now_ms = vtime_ms(mm);

		if (now_ms - locallru_mm(mm)->looked_ms < sample_ms)
			continue;
		locallru_mm(mm)->looked_ms = now_ms;
		look_at(partition_of(mm));
	}
	return false;
}

static void locallru_show(struct seq_file *m)
{
	partitions_show(m);
	show_u64(m, "looked_at", nr_looked);
	show_u64(m, "passed_used", nr_spared);
}

static const struct vm_policy locallru = {
	.name = "locallru",
	.summary = "LRU in fixed partitions: a process replaces its own pages",
	.tick_ms = 10,
	.params = locallru_params,
	.init = locallru_init,
	.mm_init = locallru_mm_init,
	.insert = locallru_insert,
	.touch = locallru_touch,
	.remove = locallru_remove,
	.select = locallru_select,
	.putback = locallru_putback,
	.surplus = locallru_surplus,
	.tick = locallru_tick,
	.check = partitions_check,
	.show = locallru_show,
};
VM_POLICY(locallru);
