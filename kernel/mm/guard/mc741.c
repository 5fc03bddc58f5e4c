/*
 * mc741: the pages of the process that runs last are activated and marked as used.
 *
 * Problem. What does it cost to move pages between the lists, apart from the effect on the order in
 * which they are evicted?
 *
 * Idea. Do the most that can be done for a page: whatever its state was, it is active and
 * referenced afterwards.
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 7.4.1 (figure 7.6): as mc74, then SetPageReferenced; only when the priority of the
 * last scan was 2 or less; he does not state the PAGEGRAB. It was meant to show the cost of the
 * locks. His result, at 36 to 48 MB: very poor.
 *
 * Here: three marks in succession, after which any page is active and referenced under 2q, as in
 * his patch. Without locks to wait for, it shows the effect of the promotion alone.
 */
#include "mc7.h"

static u32 pagegrab = MC_ALL, below = 3;

static void work(struct page *page)
{
	mc_mark(page, 3);
}

static void mc741_fault(struct mm_struct *mm)
{
	(void)mm;
	mc_fault(true, work);
}

static const struct vm_guard mc741 = {
	.name = "mc741",
	.summary = "activates and references the pages of the process that runs last",
	.params = mc_params,
	.fault = mc741_fault,
	.spare = mc_spare,
	.show = mc_show,
};
VM_GUARD(mc741);
