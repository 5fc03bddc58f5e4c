/*
 * mc63: CLOCK pressure on the largest process.
 *
 * Problem. When a program moves to another phase, it no longer needs the pages of the old one, but
 * used them recently and often. LRU keeps them, and 2Q, which protects pages that were used often,
 * even more so. The largest process has most of them.
 *
 * Idea. While memory is short, pass the hands of the clock over the pages of the largest process
 * once more: a page that was used is no longer referenced, and is evicted unless it is used again
 * before the policy looks at it.
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 6.3 (speedhands): in kswapd's balance_pgdat (mm/vmscan.c, Linux of August 2011),
 * when a zone is below LOW, the process whose file has most resident pages is found, and
 * PG_referenced is cleared on all of them, PAGEGRAB at a time. Variants:
 *
 *	6.3	LOW, PAGEGRAB 256, and dirty pages are written (here: guard=mc62,mc63)
 *	6.3.1	MIN		min=1
 *	6.3.2	PAGEGRAB 512, no writing
 *	6.3.3	PAGEGRAB 16
 *
 * His result: no gain at 96 MB, a loss at 48 MB.
 *
 * Here the size is the number of resident pages. Pressure at LOW comes once when kswapd begins, as
 * in his 6.5, not for every zone and priority. PAGEGRAB set how long his lock was held; there is no
 * lock here, so 6.3, 6.3.2 and 6.3.3 differ in the writing alone, and a smaller mc63.pagegrab means
 * less pressure. His pages were clean pages of files (kind=1), which are dropped at no cost;
 * anonymous pages must be written first, and have the flag only if the kernel used them.
 */
#include "mc.h"

static u32 pagegrab = MC_ALL, only_min;

static const struct vm_param mc63_params[] = {
	{ "pagegrab", &pagegrab, 1, MC_ALL, NULL, "pages looked at in a call" },
	{ "min", &only_min, 0, 1, NULL, "1: only when free memory is below min" },
	MC_KIND,
	{ 0 },
};

static u64 nr_calls, nr_looked;

static void press(struct page *page)
{
	nr_looked++;
	mc_unreference(page);
}

static void mc63_pressure(bool min)
{
	struct mm_struct *second, *biggest = mc_biggest(mm_rss, &second);

	if (!biggest || (only_min && !min))
		return;
	nr_calls++;
	mc_walk(biggest, pagegrab, press);
}

static void mc63_show(struct seq_file *m)
{
	show_u64(m, "calls", nr_calls);
	show_u64(m, "looked", nr_looked);
}

static const struct vm_guard mc63 = {
	.name = "mc63",
	.summary = "CLOCK pressure on the largest process",
	.params = mc63_params,
	.pressure = mc63_pressure,
	.show = mc63_show,
};
VM_GUARD(mc63);
