/*
 * mc741: the pages of the process that runs last are activated and marked as used.
 *
 * Problem. What does it cost to move pages between the lists, apart from what it does to the order
 * in which they go?
 *
 * Idea. The most that can be done for a page: whatever it was, it is active and referenced
 * afterwards.
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 7.4.1 (figure 7.6): as mc74, then SetPageReferenced; only when the priority of the
 * last scan was 2 or less; he does not say which PAGEGRAB. Meant to show what the locks cost. What
 * he found, at 36 to 48 MB: very poor.
 *
 * Here: three marks one after the other, after which 2q has any page active and referenced, as
 * in his. Without locks to wait for it shows what the promotion alone does.
 */
#include "mc7.h"

static u32 pagegrab = 256, below = 3;

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
	.summary = "activates and references the pages of who runs last",
	.params = mc_params,
	.fault = mc741_fault,
	.spare = mc_spare,
	.show = mc_show,
};
VM_GUARD(mc741);
