/*
 * mc72: the pages of the process that runs next are promoted.
 *
 * Problem. Denning: no process should run unless its working set is resident. When several run
 * without it, each finds pages missing and waits for I/O, and so does the next one.
 *
 * Idea. Let the scheduler tell the pager which process runs next: while memory is short, mark the
 * pages of the leftmost process of the run queue as used, so that they are resident when it runs.
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 7.2: in CFS's pick_next_entity (kernel/sched_fair.c, Linux of August 2011), when
 * the last scan had a priority below 4, mark_page_accessed on all pages of the leftmost's file,
 * PAGEGRAB (16) at a time:
 *
 *	inactive  -->  inactive, referenced  -->  active  -->  active, referenced
 *
 * His result: no difference. The process that runs next will use its pages in a moment anyway.
 *
 * mc7.h says when it acts here, and why.
 */
#include "mc7.h"

static u32 pagegrab = MC_ALL, below = 4;

static void work(struct page *page)
{
	mc_mark(page, 1);
}

static void mc72_fault(struct mm_struct *mm)
{
	(void)mm;
	mc_fault(false, work);
}

static const struct vm_guard mc72 = {
	.name = "mc72",
	.summary = "promotes the pages of the process that runs next",
	.params = mc_params,
	.fault = mc72_fault,
	.spare = mc_spare,
	.show = mc_show,
};
VM_GUARD(mc72);
