/*
 * mc73: the pages of the process that runs last are promoted.
 *
 * Problem. As for mc72. But who runs next needs no help: it will use its pages by itself.
 *
 * Idea. The rightmost process of the run queue has had most of the processor and waits longest, so
 * its pages grow old. When one program is the largest and does most of the work, as a compiler
 * started by make, it is most often that one. While memory is short, mark its pages as used.
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 7.3: as mc72, with the rightmost entity of CFS's tree (rb_last). What he found: no
 * gain, and with little memory an enormous loss. With PAGEGRAB 256 a machine of 40 MB did not even
 * boot: the array was on the stack.
 *
 * Here: as mc72. The pages of the one that waits longest are the ones that LRU would give first,
 * and rightly so, if it will not run for long.
 */
#include "mc7.h"

static u32 pagegrab = 16, below = 4;

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
	.summary = "promotes the pages of who runs last",
	.params = mc_params,
	.fault = mc73_fault,
	.spare = mc_spare,
	.show = mc_show,
};
VM_GUARD(mc73);
