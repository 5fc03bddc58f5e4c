/*
 * mc62: the dirty pages of the largest processes are evicted first.
 *
 * Problem. A dirty page must be written before its frame is free, so the process that needs the
 * frame waits for the disk.
 *
 * Idea. While memory is short, write the dirty pages of the two largest processes before their
 * frames are needed.
 *
 * Source: A. McMenamin, Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * 2011, section 6.2 (force_writeback): in kswapd's balance_pgdat, when a zone is below LOW, up to
 * 256 dirty pages each of the files of two processes are written: the process whose file has most
 * resident pages, and the largest of those that come before it in the list, "which may or may not
 * be the second biggest". If there is only one, nothing is done. His result: such pages are hardly
 * ever dirty, because a program does not change its text; he measured no times.
 *
 * Here most pages are anonymous, and dirty until they have been written once; kind=1 selects only
 * pages of files. And a guard cannot write, but it can push. A dirty page loses its accessed bit
 * and is hinted as DONTNEED, so the policy selects it sooner, and it is written and then evicted;
 * in his patch the page stayed. So this guard presses harder than he intended. It passes clean
 * pages (`written`). A call looks at 256 pages of each process; the next call continues from there.
 */
#include "mc.h"

#define NR_TO_WRITE 256 /* his nr_to_write, 0x100 */

static const struct vm_param mc62_params[] = {
	MC_KIND,
	{ 0 },
};

static u64 nr_calls, nr_alone, nr_dirty, nr_written;

static void flush(struct page *page)
{
	if (!page_dirty(page)) {
		nr_written++;
		return;
	}
	nr_dirty++;
	page_referenced(page);
	vm_hint(page, VM_TOUCH_DONTNEED);
}

static void mc62_pressure(bool min)
{
	struct mm_struct *second, *biggest = mc_biggest(mm_rss, &second);

	(void)min;
	if (!second) {
		nr_alone++;
		return;
	}
	nr_calls++;
	mc_walk(biggest, NR_TO_WRITE, flush);
	mc_walk(second, NR_TO_WRITE, flush);
}

static void mc62_show(struct seq_file *m)
{
	show_u64(m, "calls", nr_calls);
	show_u64(m, "alone", nr_alone);
	show_u64(m, "dirty", nr_dirty);
	show_u64(m, "written", nr_written);
}

static const struct vm_guard mc62 = {
	.name = "mc62",
	.summary = "evicts the largest processes' dirty pages first",
	.params = mc62_params,
	.pressure = mc62_pressure,
	.show = mc62_show,
};
VM_GUARD(mc62);
