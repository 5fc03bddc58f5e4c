/*
 * mc64: the pages of the largest process are pushed out of the active list.
 *
 * Problem. Clearing the referenced flag (mc63) is a weak hint: an active page stays active until
 * the scan reaches it, and that may be late.
 *
 * Idea. While memory is short, look at the pages of the largest process. A page that was used loses
 * its accessed bit, as in mc63. A page that was not used is pushed from the active list to the
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
 * dirty. Only the policy knows which list a page is on, so all unused pages are hinted as DONTNEED;
 * he moved only active pages. The effect of the hint depends on the policy. 2q moves the page to
 * the tail of its inactive list, so that it is evicted next; his went to the head, and could be
 * used again while it crossed the list. clock and fifo have no list to push from, and with them
 * this guard is mc63. The accessed bit is cleared as in mc63, not the list's flag. A call looks at
 * pagegrab pages and the next continues from there; his loop continued to the end of the file:
 * pagegrab=4096 is closest.
 */
#include "mc.h"

static u32 pagegrab = 256;

static const struct vm_param mc64_params[] = {
	{ "pagegrab", &pagegrab, 1, 4096, NULL, "pages looked at in a call" },
	MC_KIND,
	{ 0 },
};

static u64 nr_calls, nr_marked_down, nr_pushed;

static void push(struct page *page)
{
	if (page_referenced(page)) {
		nr_marked_down++;
		return;
	}
	nr_pushed++;
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
	show_u64(m, "marked_down", nr_marked_down);
	show_u64(m, "pushed", nr_pushed);
}

static const struct vm_guard mc64 = {
	.name = "mc64",
	.summary = "pushes the largest process's pages out of the active list",
	.params = mc64_params,
	.pressure = mc64_pressure,
	.show = mc64_show,
};
VM_GUARD(mc64);
