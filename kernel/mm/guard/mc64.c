/*
 * mc64: the pages of the largest process are pushed out of the active list.
 *
 * Problem. Clearing the referenced flag (mc63) is a weak hint: an active page stays active until
 * the scan reaches it, and that may be late.
 *
 * Idea. While memory is short, look at the pages of the largest process. A page that was used is no
 * longer referenced, as in mc63. A page that was not used is pushed from the active list to the
 * inactive one at once:
 *
 *	active or inactive, used  -->  same list, not used
 *	active, not used          -->  inactive, not used
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 6.4 (figure 6.7), PAGEGRAB 16, then 256; and 6.5, the same without locks and once
 * for each call of balance_pgdat. In kswapd, when a zone is below LOW. His result: no gain, and a
 * clear loss when memory was small.
 *
 * Here the largest process is the one with the largest demand, as in his second version (total_vm).
 * Dirty pages are pushed, too: he removed that test in the end, and here nearly all pages are
 * dirty. Policies without such lists, like clock and fifo, get what comes closest: a used page loses
 * its accessed bit, an unused one is hinted as DONTNEED.
 */
#include "mc.h"

static u32 pagegrab = MC_ALL;

static const struct vm_param mc64_params[] = {
	{ "pagegrab", &pagegrab, 1, MC_ALL, NULL, "pages looked at in a call" },
	MC_KIND,
	{ 0 },
};

static u64 nr_calls, nr_looked;

static void push(struct page *page)
{
	nr_looked++;
	if (!vm_demote(page, VM_DEACTIVATE) && !page_referenced(page))
		vm_hint(page, VM_TOUCH_DONTNEED);
}

static void mc64_pressure(bool min)
{
	struct mm_struct *second, *biggest = mc_biggest(mm_demand, &second);

	(void)min;
	if (!biggest)
		return;
	nr_calls++;
	mc_walk(biggest, pagegrab, push);
}

static void mc64_show(struct seq_file *m)
{
	show_u64(m, "calls", nr_calls);
	show_u64(m, "looked", nr_looked);
}

static const struct vm_guard mc64 = {
	.name = "mc64",
	.summary = "pushes the largest process's pages out of the active list",
	.params = mc64_params,
	.pressure = mc64_pressure,
	.show = mc64_show,
};
VM_GUARD(mc64);
