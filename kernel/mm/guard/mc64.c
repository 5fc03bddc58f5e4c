/*
 * mc64: the pages of the largest process are pushed out of the active list.
 *
 * Problem. Taking the referenced flag (mc63) is a weak hint: an active page stays active until the
 * scan comes to it, and it comes late.
 *
 * Idea. While memory is short, look at the pages of the largest process. One that was used loses
 * its accessed bit, as in mc63. One that was not is pushed from the active list to the inactive
 * one at once:
 *
 *	active or inactive, used  -->  the same, not used
 *	active, not used          -->  inactive, not used
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 6.4 (figure 6.7), PAGEGRAB 16, then 256; and 6.5, the same without locks and once
 * for each call of balance_pgdat. In kswapd, when a zone is below LOW. What he found: no gain, and
 * a clear loss when memory was small.
 *
 * Here: largest is who demands most, as in the second version (total_vm). Dirty pages are pushed,
 * too: he left that test out in the end, and here nearly all are. Which list a page is on only the
 * policy knows, so all that were not used are hinted as DONTNEED; he moved only active pages. What
 * the hint does is the policy's: 2q moves the page to the tail of its inactive list, so that it is
 * evicted next; his went to the head, and had the length of the list to be used again. clock and
 * fifo have no list to push from, and it is mc63 with them. The accessed bit is cleared as in mc63,
 * not the list's flag. A call looks at pagegrab pages and the next goes on there; his loop went on
 * to the end of the file: pagegrab=4096 comes nearest.
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
