/*
 * mc74: the pages of the process that runs last are activated.
 *
 * Problem. Marking pages as used (mc73) also affects pages that are active already, and an inactive
 * page needs two uses to be safe.
 *
 * Idea. Only move pages from the inactive list to the active one, at once, and keep their
 * referenced flag:
 *
 *	inactive  -->  active		inactive, referenced  -->  active, referenced
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 7.4 (figure 7.4): as mc73, with activate_page on pages that are not active,
 * PAGEGRAB 256. His result: as good as without the patch when there is enough memory, much worse
 * when there is little, which he attributed to the zone's lock. There is no such lock here.
 *
 * Here only the policy knows which list a page is on. Under 2q, two marks in succession do exactly
 * what activate_page does to an inactive page, whether referenced or not. An active page becomes
 * referenced, which it did not in his patch.
 */
#include "mc7.h"

static u32 pagegrab = MC_ALL, below = 4;

static void work(struct page *page)
{
	mc_mark(page, 2);
}

static void mc74_fault(struct mm_struct *mm)
{
	(void)mm;
	mc_fault(true, work);
}

static const struct vm_guard mc74 = {
	.name = "mc74",
	.summary = "activates the pages of the process that runs last",
	.params = mc_params,
	.fault = mc74_fault,
	.spare = mc_spare,
	.show = mc_show,
};
VM_GUARD(mc74);
