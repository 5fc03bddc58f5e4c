/*
 * /proc/<pid>/smaps and smaps_rollup: how much of each region is resident, and how much of that is
 * private to the process, in Linux's format.
 *
 * A page that n entries map is shared if n > 1, and counts 1/n in Pss: the sum of Pss over all
 * processes is the memory they use. The zero frame is unowned and does not count. A page is dirty
 * if it differs from its backing store, i.e. the file or the swap area; a page that was never
 * written there is dirty from its first write on. Rows for features that this kernel does not have
 * (huge pages, MADV_FREE) are left out. The text is cut at 128 KiB, like all files in /proc: about
 * 200 regions.
 */
#include "mm/vmstat.h"

#include "fs/proc.h"
#include "mm/mm.h"
#include "mm/page.h"
#include "mm/swap.h"
#include "sched/current.h"

#define PSS_SHIFT 12 /* fractions of a byte */

struct usage { /* bytes; _pss: in units of 2^-PSS_SHIFT bytes */
	u32 size, rss, shared_clean, shared_dirty, private_clean, private_dirty;
	u32 referenced, anonymous, swap;
	u64 pss, pss_dirty, pss_anon, swap_pss, locked;
};

static void add_page(struct usage *u, const struct page *page, pte_t e)
{
	u64 part = ((u64)PAGE_SIZE << PSS_SHIFT) / page->mapcount;
	bool dirty = pte_dirty(e) || page_test(page, PG_dirty);

	u->rss += PAGE_SIZE;
	u->pss += part;
	if (dirty)
		u->pss_dirty += part;
	if (page_test(page, PG_anon)) {
		u->anonymous += PAGE_SIZE;
		u->pss_anon += part;
	}
	if (pte_young(e) || page_test(page, PG_young))
		u->referenced += PAGE_SIZE;
	if (page->mapcount > 1)
		*(dirty ? &u->shared_dirty : &u->shared_clean) += PAGE_SIZE;
	else
		*(dirty ? &u->private_dirty : &u->private_clean) += PAGE_SIZE;
}

static void add_entry(struct usage *u, pte_t e)
{
	if (pte_is_swap(e)) {
		u->swap += PAGE_SIZE;
		u->swap_pss += ((u64)PAGE_SIZE << PSS_SHIFT) / swap_count(pte_swap_slot(e));
	} else if ((pte_present(e) || pte_noaccess(e)) && !is_zero_page(pfn_page(pte_pfn(e)))) {
		add_page(u, pfn_page(pte_pfn(e)), e);
	}
}

static void add_region(struct usage *u, const struct vm_area_struct *vma)
{
	u64 pss = u->pss;
	u32 at = vma->start;

	u->size += vma->end - vma->start;
	while (at < vma->end) {
		pte_t *pte = pte_lookup(vma->mm->pgd, at);
		u32 next = pte ? at + PAGE_SIZE : ALIGN_DOWN(at, TABLE_SPAN) + TABLE_SPAN;

		if (pte)
			add_entry(u, *pte);
		at = next;
	}
	if (vma->flags & VM_LOCKED)
		u->locked += u->pss - pss;
}

static void row(struct seq_file *m, const char *name, u64 bytes)
{
	seq_printf(m, "%-15s %8llu kB\n", name, bytes >> 10);
}

static void put_usage(struct seq_file *m, const struct usage *u, bool sum)
{
	row(m, "Rss:", u->rss);
	row(m, "Pss:", u->pss >> PSS_SHIFT);
	row(m, "Pss_Dirty:", u->pss_dirty >> PSS_SHIFT);
	if (sum) {
		row(m, "Pss_Anon:", u->pss_anon >> PSS_SHIFT);
		row(m, "Pss_File:", (u->pss - u->pss_anon) >> PSS_SHIFT);
	}
	row(m, "Shared_Clean:", u->shared_clean);
	row(m, "Shared_Dirty:", u->shared_dirty);
	row(m, "Private_Clean:", u->private_clean);
	row(m, "Private_Dirty:", u->private_dirty);
	row(m, "Referenced:", u->referenced);
	row(m, "Anonymous:", u->anonymous);
	row(m, "Swap:", u->swap);
	row(m, "SwapPss:", u->swap_pss >> PSS_SHIFT);
	row(m, "Locked:", u->locked >> PSS_SHIFT);
}

static void smaps_show(struct seq_file *m, struct task_struct *t)
{
	const struct vm_area_struct *vma;

	if (!t->mm)
		return;
	list_for_each_entry(vma, &t->mm->vma_list, list) {
		struct usage u = { 0 };

		add_region(&u, vma);
		proc_maps_region(m, vma);
		row(m, "Size:", u.size);
		row(m, "KernelPageSize:", PAGE_SIZE);
		row(m, "MMUPageSize:", PAGE_SIZE);
		put_usage(m, &u, false);
	}
}

static void rollup_show(struct seq_file *m, struct task_struct *t)
{
	const struct vm_area_struct *vma;
	struct usage u = { 0 };
	u32 start = 0, end = 0;

	if (!t->mm)
		return;
	list_for_each_entry(vma, &t->mm->vma_list, list) {
		start = start ?: vma->start;
		end = vma->end;
		add_region(&u, vma);
	}
	seq_printf(m, "%08x-%08x ---p 00000000 00:00 0          [rollup]\n", start, end);
	put_usage(m, &u, true);
}

static const struct proc_pid_file files[] = {
	{ .name = "smaps", .show = smaps_show },
	{ .name = "smaps_rollup", .show = rollup_show },
	{ 0 },
};

PROC_PID_FILES(files);
