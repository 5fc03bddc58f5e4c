/*
 * /proc/vm/check: are the structures of memory management consistent?
 *
 * Each allocator and the policy check themselves. Then every value that is counted in two places is
 * recounted from the page tables: resident pages and swap entries of each process, entries per
 * frame against mapcount, entries per slot against the slot's count, user frames against the count
 * of the frame limit (cap). Prints "ok" or the errors. Takes time in proportion to memory.
 */
#include "arch/irq.h"
#include "lib/seq_file.h"
#include "mm/cache.h"
#include "mm/frames.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "observe/files.h"
#include "sched/task.h"

struct totals {
	u32 anon, file, swap;       /* entries of one address space */
	u64 maps, swaps;            /* entries of all spaces */
	u32 errors;
	struct seq_file *m;
};

/* Does an entry allow writing to a file page that is not marked dirty? That must not be. */
static bool writes_unseen(const struct vm_area_struct *vma, pte_t e)
{
	const struct page *page = pfn_page(pte_pfn(e));

	return vma->flags & VM_SHARED && pte_write(e) && page_test(page, PG_filecache) &&
	       !page_test(page, PG_dirty);
}

static void wrong(struct totals *t, const char *what, u32 have, u32 want)
{
	t->errors++;
	seq_printf(t->m, "%s: %u, counted %u\n", what, have, want);
}

static void count_entry(pte_t e, struct totals *t)
{
	if (pte_none(e))
		return;
	if (pte_is_swap(e)) {
		t->swap++;
		if (!swap_slot_valid(pte_swap_slot(e)))
			wrong(t, "entry names a free slot", pte_swap_slot(e), 0);
		return;
	}
	if (is_zero_page(pfn_page(pte_pfn(e))))
		return;
	if (page_test(pfn_page(pte_pfn(e)), PG_anon))
		t->anon++;
	else
		t->file++;
}

static void check_mm(struct mm_struct *mm, struct totals *t)
{
	struct vm_area_struct *vma;

	t->anon = t->file = t->swap = 0;
	list_for_each_entry(vma, &mm->vma_list, list)
		for (u32 addr = vma->start; addr != vma->end; addr += PAGE_SIZE) {
			pte_t *pte = pte_lookup(mm->pgd, addr);

			if (!pte)
				continue;
			count_entry(*pte, t);
			if (pte_present(*pte) && writes_unseen(vma, *pte))
				wrong(t, "entry writes to a clean page of a file", addr, 0);
		}
	if (t->anon != mm->count.anon)
		wrong(t, "anonymous pages of a process", mm->count.anon, t->anon);
	if (t->file != mm->count.file)
		wrong(t, "file pages of a process", mm->count.file, t->file);
	if (t->swap != mm->count.swapents)
		wrong(t, "swap entries of a process", mm->count.swapents, t->swap);
	t->maps += t->anon + t->file;
	t->swaps += t->swap;
}

/* Returns the number of processes in direct reclaim: each may have a frame counted against the cap
 * that it does not have yet. */
static u32 nr_looking(void)
{
	struct task_struct *task;
	u32 nr = 0;

	for_each_task(task)
		nr += (task->flags & (TF_KTHREAD | TF_RECLAIM)) == TF_RECLAIM;
	return nr;
}

static void check_frames(struct totals *t)
{
	u32 maps = 0, user = 0, owned = 0, isolated = 0, stored = 0, dirty = 0, shmem = 0,
	    known_dirty;
	unsigned long flags = irq_save(); /* a failing write makes its page dirty again */

	for (u32 pfn = 0; pfn < max_pfn; pfn++) {
		struct page *p = pfn_page(pfn);

		if (page_test(p, PG_reserved) || page_test(p, PG_buddy) || !p->count)
			continue;
		if (!page_test(p, PG_slab))
			maps += p->mapcount;
		user += page_test(p, PG_anon) && !page_test(p, PG_mlocked);
		owned += page_test(p, PG_owned);
		stored += page_test(p, PG_filecache) && p->inode;
		shmem += page_test(p, PG_shmem) && p->inode;
		dirty += page_test(p, PG_filecache) && !page_test(p, PG_shmem) &&
			 page_test(p, PG_dirty);
		isolated += page_test(p, PG_isolated);
	}
	known_dirty = cache_nr_dirty;
	irq_restore(flags);
	if (maps != t->maps)
		wrong(t, "entries that map frames", maps, t->maps);
	if (user > frames_used || frames_used - user > nr_looking())
		wrong(t, "user frames", frames_used, user);
	if (owned != zones_nr_owned())
		wrong(t, "frames the policy owns", zones_nr_owned(), owned);
	if (stored != cache_nr_stored)
		wrong(t, "pages of files with a store", cache_nr_stored, stored);
	if (shmem != cache_nr_shmem)
		wrong(t, "pages of shared memory", cache_nr_shmem, shmem);
	if (dirty != known_dirty)
		wrong(t, "dirty pages of files", known_dirty, dirty);
	if (isolated != vm_nr_isolated)
		wrong(t, "frames the core holds", vm_nr_isolated, isolated);
}

static void check_slots(struct totals *t)
{
	u64 named = swap_nr_entries();
	bool sound = true;

	t->swaps += shmem_nr_swapped(&sound);
	if (!sound)
		wrong(t, "shared memory in the swap area", 1, 0);
	if (named != t->swaps)
		wrong(t, "entries that name slots", named, t->swaps);
}

void vm_check_show(struct seq_file *m)
{
	struct totals t = { .m = m };
	struct mm_struct *mm;

	for (int i = 0; i < MAX_ZONES; i++)
		if (buddy_check(&zones[i]))
			wrong(&t, "buddy lists of a zone", i, 0);
	if (slab_check())
		wrong(&t, "slab caches", 1, 0);
	if (swap_check())
		wrong(&t, "swap slots", 1, 0);
	policy_call_check();
	for_each_mm(mm)
		check_mm(mm, &t);
	check_frames(&t);
	check_slots(&t);
	if (!t.errors)
		seq_puts(m, "ok\n");
}
