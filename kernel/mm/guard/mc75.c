/*
 * mc75: CLOCK pressure on the process that runs last.
 *
 * Problem. Keeping the pages of the largest process (mc73 to mc741) helps only while it uses them.
 * When it has moved to another phase, the pages kept are those it no longer needs.
 *
 * Idea. The opposite: while memory is short, the pages of the rightmost process of the run queue,
 * often the largest, are no longer referenced. It will use again the pages that it still needs; the
 * others are evicted.
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 7.5: as mc73, with ClearPageReferenced in place of mark_page_accessed; no page is
 * moved to another list. His result, at 40 MB: notably worse. The time went into reading pages
 * again, not into the patch: the wrong pages were evicted.
 *
 * Here: as mc63, for that process. It does not run at that moment, so it cannot use the pages again
 * before the scan comes: the pressure evicts the pages that it needs next.
 */
#include "mc7.h"

static u32 pagegrab = MC_ALL, below = 4;

static void work(struct page *page)
{
	nr_pages++;
	mc_unreference(page);
}

static void mc75_fault(struct mm_struct *mm)
{
	(void)mm;
	mc_fault(true, work);
}

static const struct vm_guard mc75 = {
	.name = "mc75",
	.summary = "CLOCK pressure on the process that runs last",
	.params = mc_params,
	.fault = mc75_fault,
	.spare = mc_spare,
	.show = mc_show,
};
VM_GUARD(mc75);
