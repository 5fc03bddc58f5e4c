/* Files in /proc about memory, with Linux's names and formats where Linux has the file. */
#include "mm/vmstat.h"

#include "drivers/block.h"
#include "fs/proc.h"
#include "fs/vfs.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/control.h"
#include "mm/frames.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/pagelist.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/vmalloc.h"
#include "mm/zone.h"
#include "observe/files.h"
#include "sched/task.h"

static u32 nr_owned(void)
{
	return zones[0].nr_owned + zones[1].nr_owned + zones[2].nr_owned;
}

static void kib(struct seq_file *m, const char *name, u32 pages)
{
	seq_printf(m, "%-15s %8u kB\n", name, pages * 4);
}

static void sum_processes(u32 *file, u32 *tables, u32 *locked)
{
	struct mm_struct *mm;

	for_each_mm(mm) {
		*file += mm->count.file;
		*tables += mm->count.ptes + 1;
		*locked += mm->count.locked_vm;
	}
}

/* Returns the number of pages of block device files. */
static u32 nr_buffers(void)
{
	struct block_device *b = NULL;
	u32 nr = 0;

	while ((b = bdev_next(b)))
		nr += b->inode ? b->inode->cache.nr_pages : 0;
	return nr;
}

/* What programs can get without swapping, as Linux estimates it: free frames and pages of files, without
 * what the zones keep free, and without half of the files' pages or as many as the low watermarks. */
static u32 nr_available(void)
{
	u32 files = cache_nr_stored - cache_nr_shmem, low = 0, kept = 0;

	for (int i = 0; i < MAX_ZONES; i++) {
		const struct zone *z = &zones[i];

		low += z->watermark[WMARK_LOW];
		kept += MIN(z->managed, z->keep[zone_keep(WMARK_HIGH, ZONE_HIGHMEM)]);
	}
	kept += MIN(files / 2, low);
	return nr_free_pages() + files - MIN(nr_free_pages() + files, kept);
}

/* Active and Inactive are left out: only the policy knows which pages are which, if any. */
static void meminfo_show(struct seq_file *m)
{
	u32 file = 0, tables = 0, locked = 0;

	sum_processes(&file, &tables, &locked);
	kib(m, "MemTotal:", nr_managed_pages());
	kib(m, "MemFree:", nr_free_pages());
	kib(m, "MemAvailable:", nr_available());
	kib(m, "Buffers:", nr_buffers());
	kib(m, "Cached:", cache_nr_cached() - nr_buffers());
	kib(m, "Dirty:", cache_nr_dirty);
	kib(m, "AnonPages:", frames_used);
	kib(m, "Mapped:", file);
	kib(m, "Mlocked:", locked);
	kib(m, "Shmem:", cache_nr_shmem);
	kib(m, "Slab:", slab_nr_pages());
	kib(m, "PageTables:", tables);
	kib(m, "Hugetlb:", huge_nr_pages);
	kib(m, "KernelStack:", nr_tasks() * (KERNEL_STACK_SIZE / PAGE_SIZE));
	kib(m, "Writeback:", reclaim_nr_swapping() + cache_nr_writeback);
	kib(m, "SwapTotal:", swap_nr_usable);
	kib(m, "SwapFree:", swap_nr_free);
	kib(m, "CommitLimit:", vm_commit_limit());
	kib(m, "Committed_AS:", vm_committed);
	kib(m, "HighTotal:", zones[ZONE_HIGHMEM].managed);
	kib(m, "HighFree:", zones[ZONE_HIGHMEM].nr_free);
	kib(m, "VmallocTotal:", (VMALLOC_WINDOW_END - VMALLOC_START) >> PAGE_SHIFT);
	kib(m, "VmallocUsed:", vmalloc_nr_pages());
}

static void vmstat_show(struct seq_file *m)
{
	seq_printf(
		m,
		"nr_free_pages %u\nnr_policy_pages %u\nnr_isolated %u\nnr_anon_pages %u\n"
		"nr_file_pages %u\nnr_dirty %u\nnr_writeback %u\nnr_slab_pages %u\nnr_slab_objects %u\nnr_swap_free %u\n",
		nr_free_pages(), nr_owned(), vm_nr_isolated, frames_used, cache_nr_cached(),
		cache_nr_dirty, reclaim_nr_swapping() + cache_nr_writeback, slab_nr_pages(),
		slab_objects_in_use(), swap_nr_free);
	for (int i = 0; i < NR_VM_EVENTS; i++)
		seq_printf(m, "%s %llu\n", vm_event_names[i], vm_events[i]);
	seq_printf(m, "policy_us %llu\n", cycles_to_ns(policy_timer.cycles) / 1000);
}

static void zoneinfo_show(struct seq_file *m)
{
	for (int i = 0; i < MAX_ZONES; i++) {
		struct zone *z = &zones[i];

		seq_printf(m,
			   "Node 0, zone %8s\n  pages free     %u\n        min      %u\n"
			   "        low      %u\n        high     %u\n        spanned  %u\n"
			   "        present  %u\n        managed  %u\n        policy   %u\n",
			   z->name, z->nr_free, z->watermark[WMARK_MIN], z->watermark[WMARK_LOW],
			   z->watermark[WMARK_HIGH], z->end_pfn - z->start_pfn, z->present,
			   z->managed, z->nr_owned);
		seq_printf(m,
			   "  allocated      %llu\n  freed          %llu\n  reclaimed      %llu\n"
			   "  start_pfn:           %u\n",
			   z->nr_alloc, z->nr_freed, z->nr_reclaimed, z->start_pfn);
		seq_printf(m,
			   "  pagesets\n    cpu: 0\n              count: %u\n"
			   "              high:  %u\n              batch: %u\n",
			   page_lists[i].nr, page_lists[i].high, page_lists[i].batch);
	}
}

static void buddyinfo_show(struct seq_file *m)
{
	for (int i = 0; i < MAX_ZONES; i++) {
		seq_printf(m, "Node 0, zone %8s ", zones[i].name);
		for (int o = 0; o < MAX_ORDER; o++)
			seq_printf(m, "%6u ", zones[i].free_area[o].nr_free);
		seq_putc(m, '\n');
	}
}

static void page_seconds(struct seq_file *m, const char *name, u64 page_cycles)
{
	u64 ms = cycles_to_ns(page_cycles) / 1000000;

	seq_printf(m, "%s %llu.%03llu\n", name, ms / 1000, ms % 1000);
}

static void pid_vm_show(struct seq_file *m, struct task_struct *t)
{
	static const char *const names[NR_ACCTS] = { "user",     "kernel", "ready",
						     "pagewait", "admit",  "sleep" };
	const struct mm_counters *c;
	char name[32];
	u64 now;

	if (!t->mm)
		return;
	c = &t->mm->count;
	now = cycles_now();
	seq_printf(m,
		   "mad %u\nrss %u\nrss_max %u\nnap %u\nwss %u\nswap %u\nminflt %llu\nmajflt %llu\n"
		   "refault %llu\nfault_delay_us %llu\n",
		   c->demand, mm_rss_pages(t->mm), c->max_rss, c->nap, c->wss, c->swapents,
		   t->nr_minflt, t->nr_majflt, c->nr_refault,
		   cycles_to_ns(t->acct.major.cycles) / 1000);
	for (int i = 0; i < NR_ACCTS; i++)
		seq_printf(m, "%s_us %llu\n", names[i],
			   cycles_to_ns(acct_cycles(&t->acct, i, now)) / 1000);
	for (int i = 0; i < NR_ACCTS; i++) {
		scnprintf(name, sizeof(name), "%s_page_s", names[i]);
		page_seconds(m, name, acct_space(&t->acct, i, now));
	}
	page_seconds(m, "fault_page_s", t->acct.major.rss_cycles);
	page_seconds(m, "minor_wait_page_s", t->acct.minor.space);
}

static const struct proc_file files[] = {
	{ "meminfo", meminfo_show, NULL },         { "vmstat", vmstat_show, NULL },
	{ "zoneinfo", zoneinfo_show, NULL },       { "buddyinfo", buddyinfo_show, NULL },
	{ "slabinfo", slab_show, NULL },           { "swaps", swaps_show, NULL },
	{ "vmallocinfo", vmallocinfo_show, NULL }, { "pressure/memory", psi_show, NULL },
	{ "vm/policy", policy_show, NULL },        { "vm/guard", guard_show, NULL },
	{ "vm/check", vm_check_show, NULL },       { 0 },
};

static const struct proc_pid_file pid_files[] = { { .name = "vm", .show = pid_vm_show }, { 0 } };

PROC_FILES(files);
PROC_PID_FILES(pid_files);
