/*
 * Page faults: from a faulting address to an entry that permits the access. Anonymous memory and
 * copy on write are handled in mm/space/anon.c.
 *
 *   no region, or no right          -EFAULT: SIGSEGV
 *   empty entry, region of a file   the page of the file; a copy, for a private write; a hole of a
 *                                   file in memory is read like anonymous memory
 *   empty entry, anonymous region   reading: the shared frame of zeros; writing: a new frame
 *   a swap slot                     the cached frame, or read it (and neighbours) and sleep
 *   trapped (mm/space/young.c)      tell the policy, make it usable again
 *   present, but not writable       copy on write: the frame itself if no other user has it
 *
 * mm->lock is held throughout, also across sleeps, so regions and page tables do not change.
 * Reclaim may change the entry while we sleep. So the entry is read again after every sleep; if it
 * has changed, the access simply faults again. The policy owns a new frame once it is mapped.
 */
#include "mm/fault.h"

#include "anon.h"
#include "arch/machine.h"
#include "arch/uaccess.h"
#include "errno.h"
#include "fs/vfs.h"
#include "internal.h"
#include "mm/guard_core.h"
#include "mm/oom.h"
#include "mm/policy_core.h"
#include "mm/rmap.h"
#include "mm/starve.h"
#include "mm/swap.h"
#include "mm/frames.h"
#include "mm/vmstat.h"
#include "sched/current.h"

#define STACK_GUARD (256 * PAGE_SIZE) /* left free below a stack, as in Linux */

void copy_frame(struct page *to, struct page *from)
{
	void *dst = kmap(to), *src = kmap(from);

	copy_page(dst, src);
	kunmap(src);
	kunmap(dst);
}

/* The access that faulted is repeated after the fault and must not count as a use (mm/space/young.c). */
static inline void map_anon(struct fault *f, struct page *page, bool writable)
{
	page_add_anon(page, f->vma, f->addr);
	*f->pte = pte_make(page_pfn(page), writable);
	current->fresh_va = f->addr;
}

static inline void map_new(struct fault *f, struct page *page)
{
	struct page_id none = { 0 };

	map_anon(f, page, true);
	if (!page_test(page, PG_mlocked))
		policy_call_insert(page, f->vma->mm, VM_IN_FAULT, none);
}

void map_new_anon(struct fault *f, struct page *page)
{
	map_new(f, page);
}

/* A private write to a page of a file: maps a copy; the page itself stays the file's. */
static int copy_file_page(struct fault *f, struct page *page)
{
	struct page *copy = alloc_anon(f->vma, 0);

	if (!copy)
		return -ENOMEM;
	copy_frame(copy, page);
	map_new(f, copy);
	return 0;
}

/* Maps the page. Its reference becomes the entry's. */
static void map_file(struct fault *f, struct page *page)
{
	struct vm_area_struct *vma = f->vma;
	u32 nr_mapped = 1;

	page->mapcount++;
	*f->pte = pte_make(page_pfn(page), f->write);
	if (page_test(page, PG_filecache)) {
		current->fresh_va = f->addr;
		if (vma->flags & VM_LOCKED)
			page_pin(page);
		cache_note_fault(page, vma->mm);
	}
	if (!f->write)
		nr_mapped += filemap_map_around(vma, f->addr);
	mm_count_file(vma->mm, nr_mapped);
}

/* A private write stays in this process. A mapped hole is unmapped when the file gets a page there. */
static int fault_hole(struct fault *f)
{
	if (!f->write)
		f->vma->inode->cache.holes_mapped = true;
	return fault_anon(f);
}

static int fault_file(struct fault *f)
{
	struct vm_area_struct *vma = f->vma;
	struct page *page;
	int err = vma->ops->fault(vma, f->addr, &page, &f->major);

	if (err == -ENOENT && f->write && vma->flags & VM_SHARED)
		err = filemap_fill_hole(vma, f->addr, &page);
	else if (err == -ENOENT)
		return fault_hole(f);
	if (err)
		return err == -ENOMEM && vma->inode->cache.ops ? -ENOMEM : -EIO;
	if (f->write && !(vma->flags & VM_SHARED)) {
		if (page_test(page, PG_filecache))
			cache_note_io(page);
		err = copy_file_page(f, page);
	} else {
		if (f->write)
			err = cache_make_writable(vma->inode, page);
		if (!err && page->inode == vma->inode) {
			map_file(f, page);
			return 0;
		}
	}
	page_put(page);
	return err == -EAGAIN ? 0 : err == -ENOSPC ? -EIO : err;
}

/* The swapped page is resident: maps it and tells the policy, while its slot and thus its ghost
 * still exist. */
static void map_swapped(struct fault *f, struct page *page, u32 slot, enum vm_in how)
{
	struct mm_struct *mm = f->vma->mm;
	bool exclusive = swap_count(slot) == 1 && !page->mapcount;
	struct page_id id = { SWAP_STORE, slot };

	map_anon(f, page, exclusive && f->vma->flags & VM_WRITE);
	page_clear(page, PG_readahead);
	mm->count.swapents--;
	if (f->vma->flags & VM_LOCKED)
		page_pin(page);
	else if (page_test(page, PG_owned))
		policy_call_touch(page, mm, VM_TOUCH_MINOR);
	else if (!page_test(page, PG_isolated) && !page_test(page, PG_mlocked))
		policy_call_insert(page, mm, how, id);
	swap_free(slot);
	if (exclusive && swap_nearly_full() && !page_test(page, PG_isolated))
		swap_cache_del(page);
}

/* Makes mm the owner of a page without an owner. A page that was read ahead is first removed from
 * the policy, to be inserted as a claim. If the last user has exited, the policy keeps its data. */
static enum vm_in claim_unowned(struct page *page, struct mm_struct *mm)
{
	if (!page_test(page, PG_owned) || page->owner || page->mapcount)
		return VM_IN_FAULT;
	if (!page_test(page, PG_readahead)) {
		policy_call_moved(page, mm);
		return VM_IN_FAULT;
	}
	stat_count(swap_ra_hit);
	policy_call_remove(page, VM_OUT_MOVED);
	return VM_IN_CLAIM;
}

/* A clustered read may fail because of another page; then `again` reads this page alone. */
static int fault_swap(struct fault *f, pte_t entry, bool again)
{
	bool alone = again || f->vma->flags & VM_RAND_READ || !page_cluster;
	u32 slot = pte_swap_slot(entry);
	struct page *page = swap_in_slot(slot, f->vma->mm, alone, &f->major);

	if (!page)
		return pte_same(*f->pte, entry) ? -ENOMEM : 0;
	page_wait_unlocked(page);
	if (!pte_same(*f->pte, entry) || !page_test(page, PG_swapcache) || page->slot != slot) {
		page_put(page);
		return 0;
	}
	if (page_test(page, PG_error) && !page_test(page, PG_uptodate)) {
		swap_cache_del(page);
		page_put(page);
		return again || (alone && f->major) ? -EIO : fault_swap(f, entry, true);
	}
	if (f->major)
		swap_note_refault(f->vma->mm, slot);
	map_swapped(f, page, slot, claim_unowned(page, f->vma->mm));
	return 0;
}

static int fault_trapped(struct fault *f)
{
	struct page *page = pfn_page(pte_pfn(*f->pte));

	*f->pte = pte_mkyoung(pte_mkaccess(*f->pte));
	current->fresh_va = f->addr;
	if (page_test(page, PG_owned))
		policy_call_touch(page, f->vma->mm, VM_TOUCH_MINOR);
	return 0;
}

static int fault_dispatch(struct fault *f)
{
	pte_t e = *f->pte;

	if (pte_none(e))
		return f->vma->ops ? fault_file(f) : fault_anon(f);
	if (pte_is_swap(e))
		return fault_swap(f, e, false);
	if (pte_noaccess(e))
		return fault_trapped(f);
	if (f->write && !pte_write(e))
		return fault_copy_on_write(f);
	tlb_flush_page(f->vma->mm->pgd, f->addr); /* another task fixed it: flush a stale entry */
	return 0;
}

/* Extends a stack down to the faulting page, if the limit and the region below permit it. */
static bool grow_stack(struct vm_area_struct *vma, u32 addr)
{
	struct vm_area_struct *prev = vma_prev(vma);
	u32 start = addr & PAGE_MASK;

	if (!(vma->flags & VM_GROWSDOWN) || vma->inode || vma->moved ||
	    vma->end - start > current->limits[RLIMIT_STACK].soft || start < STACK_GUARD)
		return false;
	if (prev && start - prev->end < STACK_GUARD)
		return false;
	if (!vm_may_commit((vma->start - start) >> PAGE_SHIFT))
		return false;
	vma_resize(vma, start, vma->end);
	return true;
}

static bool allowed(const struct vm_area_struct *vma, u32 fault)
{
	return vma->flags & (fault & FAULT_WRITE ? VM_WRITE : VM_READ);
}

/* Adds up a fault that has waited; rss is the resident set when the fault began. For a major fault
 * these are Denning's D and s(t_i). */
static void note_wait(struct acct_clock *a, struct fault_sums *sums, u32 rss)
{
	u64 delay = a->cycles[ACCT_PAGEWAIT] - a->begin_cycles;

	a->fault_waited = false;
	sums->cycles += delay;
	sums->space += acct_space(a, ACCT_PAGEWAIT, 0) - a->begin_space;
	sums->rss_cycles += delay * rss;
}

static void note_major(u32 addr, u32 rss)
{
	stat_count(pgfault);
	stat_count(pgmajfault);
	current->acct.major_rss += rss;
	current->nr_majflt++;
	starve_note_major(addr);
}

static int fault_locked(struct mm_struct *mm, u32 addr, u32 fault, bool *major)
{
	struct vm_area_struct *vma = vma_find(mm, addr);
	struct fault f = { .vma = vma, .addr = addr & PAGE_MASK, .write = fault & FAULT_WRITE };
	int err;

	if (!vma || (vma->start > addr && !grow_stack(vma, addr)) || !allowed(vma, fault))
		return -EFAULT;
	if (vma->flags & VM_HUGE)
		return 0; /* it is mapped already */
	f.pte = pte_alloc(mm->pgd, f.addr, &mm->count.ptes);
	if (!f.pte)
		return -ENOMEM;
	err = fault_dispatch(&f);
	*major = f.major;
	return err;
}

int handle_mm_fault(struct mm_struct *mm, u32 addr, u32 fault)
{
	struct acct_clock *acct = &current->acct;
	u32 rss = mm_rss_pages(mm);
	bool major = false;
	int err;

	acct->in_fault = true;
	mutex_lock(&mm->lock);
	err = fault_locked(mm, addr, fault, &major);
	mutex_unlock(&mm->lock);
	acct->in_fault = false;
	if (acct->fault_waited)
		note_wait(acct, major ? &acct->major : &acct->minor, rss);
	if (major) {
		note_major(addr, rss);
	} else if (!err) {
		stat_count(pgfault);
		current->nr_minflt++;
	}
	return err;
}

/* Returns the page that addr maps, or NULL if it is not resident or not writable yet. */
static struct page *page_there(struct mm_struct *mm, u32 addr, bool write)
{
	pte_t *pte = pte_lookup(mm->pgd, addr);

	if (!pte)
		return huge_page_at(mm, addr, write);
	if (!pte_present(*pte) || (write && !pte_write(*pte)))
		return NULL;
	*pte = pte_mkyoung(*pte);
	return pfn_page(pte_pfn(*pte));
}

struct page *get_user_page(struct mm_struct *mm, u32 addr, bool write)
{
	struct page *page;

	mutex_lock(&mm->lock);
	page = page_there(mm, addr, write);
	if (page)
		page_get(page);
	mutex_unlock(&mm->lock);
	return page;
}

static void signal_fault(int err, u32 addr)
{
	if (err != -ENOMEM)
		force_signal(err == -EIO ? SIGBUS : SIGSEGV, addr);
	else if (!init_lacks_memory())
		signal_send(current, SIGKILL);
}

/* With one frame left, a word that straddles two pages is never copied: let others run, until SIGKILL. */
static int copy_goes_on(void)
{
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

void do_page_fault(struct pt_regs *regs, u32 addr, u32 fault)
{
	int err = -EFAULT;

	if (unlikely(starved_mm) && starved_mm == current->mm && fault & FAULT_USER)
		starve_fault(addr);
	if (addr < TASK_SIZE && current->mm && (fault & FAULT_USER || has_fixup(regs)))
		err = handle_mm_fault(current->mm, addr, fault);
	if (!err && !(fault & FAULT_USER))
		err = copy_goes_on();
	if (likely(!err)) {
		if (admission_asks() && !admission_grants(current->mm))
			task_set_work(current, WORK_ADMIT);
		return;
	}
	if (fault & FAULT_USER)
		signal_fault(err, addr);
	else if (!fixup_exception(regs))
		die(regs, "page fault in the kernel", addr);
	else if (err == -ENOMEM)
		signal_fault(err, addr); /* as if the program itself had faulted */
}
