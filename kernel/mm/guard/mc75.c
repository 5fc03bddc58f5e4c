/*
 * mc75: CLOCK pressure on the process that runs last.
 *
 * Problem. To keep the pages of the largest process (mc73 to mc741) helps only while it uses them.
 * When it has moved to another phase, what is kept is what it needs no more.
 *
 * Idea. The other way round: while memory is short, the pages of the rightmost process of the run
 * queue, often the largest, lose their accessed bits. What it still needs it will use again; the
 * rest goes.
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 7.5: as mc73, with ClearPageReferenced in place of mark_page_accessed; no page is
 * moved to another list. What he found, at 40 MB: notably worse. The time went into reading pages
 * again, not into the patch: the wrong pages went.
 *
 * Here: the accessed bit is cleared, as in mc63, since his flag belongs to the lists of one
 * policy; that presses harder than he did, for the bit of a mapped page is what 2q looks at. A call
 * handles pagegrab pages, 16, and the next goes on there; his loop went on to the end of the file,
 * so that one call pressed all of it: pagegrab=4096 comes nearest. The process does not run just
 * then, so that it cannot use them again before the scan comes: the pressure takes what it needs
 * next.
 */
#include "mc7.h"

static u32 pagegrab = 16, below = 4;

static void work(struct page *page)
{
	nr_pages += page_referenced(page);
}

static void mc75_fault(struct mm_struct *mm)
{
	(void)mm;
	mc_fault(true, work);
}

static const struct vm_guard mc75 = {
	.name = "mc75",
	.summary = "CLOCK pressure on who runs last",
	.params = mc_params,
	.fault = mc75_fault,
	.spare = mc_spare,
	.show = mc_show,
};
VM_GUARD(mc75);
