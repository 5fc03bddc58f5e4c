/*
 * mc73: the pages of the process that runs last are promoted.
 *
 * Problem. As for mc72. But the process that runs next needs no help: it will use its pages anyway.
 *
 * Idea. The rightmost process of the run queue has used the processor most and waits longest, so
 * its pages age. If one program is the largest and does most of the work, like a compiler started
 * by make, it is usually the rightmost. While memory is short, mark its pages as used.
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 7.3: as mc72, with the rightmost entity of CFS's tree (rb_last). His result: no
 * gain, and with little memory an enormous loss. With PAGEGRAB 256 a machine with 40 MB did not
 * even boot: the array was on the stack.
 *
 * Here: as mc72. The pages of the process that waits longest are those that LRU would evict first,
 * and rightly so if the process will not run for long.
 */
#include "mc7.h"

static u32 pagegrab = MC_ALL, below = 4;

static void work(struct page *page)
{
	mc_mark(page, 1);
}

static void mc73_fault(struct mm_struct *mm)
{
	(void)mm;
	mc_fault(true, work);
}

static const struct vm_guard mc73 = {
	.name = "mc73",
	.summary = "promotes the pages of the process that runs last",
	.params = mc_params,
	.fault = mc73_fault,
	.spare = mc_spare,
	.show = mc_show,
};
VM_GUARD(mc73);
