/*
 * mlock and madvise: what a program tells the kernel about its memory.
 *
 * A page of a locked region is pinned: it has PG_mlocked, the policy does not own it, and it does
 * not count against the cap on frames. Locking first faults in all pages. A page that several
 * regions map is pinned as long as one of them is locked.
 */
#include "errno.h"
#include "fs/vfs.h"
#include "mm/fault.h"
#include "internal.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/frames.h"
#include "sched/current.h"

void page_pin(struct page *page)
{
	if (!(page->flags & (1u << PG_anon | 1u << PG_filecache)) || page_test(page, PG_mlocked))
		return;
	if (page_test(page, PG_owned))
		policy_call_remove(page, VM_OUT_PINNED);
	page_set(page, PG_mlocked);
	if (page_is_capped(page))
		frames_uncharge();
}

static void test_locked(struct rmap_entry *e, void *arg)
{
	struct vm_area_struct *vma = vma_find(e->mm, e->addr);

	if (vma && vma->start <= e->addr && vma->flags & VM_LOCKED)
		*(bool *)arg = true;
}

void page_unpin(struct page *page)
{
	bool locked = false;

	if (page_test(page, PG_mlocked))
		rmap_walk(page, test_locked, &locked);
	if (!page_test(page, PG_mlocked) || locked)
		return;
	page_clear(page, PG_mlocked);
	if (page_is_capped(page))
		frames_used++; /* it is resident already, so it may exceed the cap */
	if (!page_test(page, PG_isolated))
		policy_call_insert(page, page->owner, VM_IN_ADOPT, page_id_of(page));
}

/*
 * Returns the flags of the first region at or above *addr whose pages can be faulted in, and moves
 * *addr into it; 0 if there is none.
 */
static u32 next_to_populate(struct mm_struct *mm, u32 *addr)
{
	struct vm_area_struct *vma;
	u32 flags = 0;

	mutex_lock(&mm->lock);
	vma = vma_find(mm, *addr);
	while (vma && (!(vma->flags & VM_READ) || vma->flags & VM_HUGE))
		vma = vma_next(vma);
	if (vma) {
		*addr = MAX(*addr, vma->start);
		flags = vma->flags;
	}
	mutex_unlock(&mm->lock);
	return flags;
}

int mm_populate(struct mm_struct *mm, u32 start, u32 end)
{
	u32 flags;

	for (u32 addr = start; (flags = next_to_populate(mm, &addr)) && addr < end;
	     addr += PAGE_SIZE) {
		int err = handle_mm_fault(mm, addr, flags & VM_WRITE ? FAULT_WRITE : 0);

		if (err || fatal_signal_pending(current))
			return err ?: -EINTR;
	}
	return 0;
}

/* Pins or unpins the pages that the region's entries map. */
static void pin_range(struct vm_area_struct *vma, u32 start, u32 end, bool lock)
{
	for (u32 addr = start; addr < end; addr += PAGE_SIZE) {
		pte_t *pte = pte_lookup(vma->mm->pgd, addr);
		struct page *page;

		if (!pte || !(pte_present(*pte) || pte_noaccess(*pte)))
			continue;
		page = pfn_page(pte_pfn(*pte));
		if (lock)
			page_pin(page);
		else
			page_unpin(page);
	}
}

static u32 set_locked(struct vm_area_struct *vma, u32 lock)
{
	return lock ? vma->flags | VM_LOCKED : vma->flags & ~VM_LOCKED;
}

/* Processes all mapped parts of the range. Returns -ENOMEM afterwards if there are gaps. */
static int mlock_range(struct mm_struct *mm, u32 start, u32 end, bool lock)
{
	struct vm_area_struct *vma;
	bool gap;
	int err;

	mutex_lock(&mm->lock);
	err = vma_for_range(mm, start, end, set_locked, lock);
	gap = !range_mapped(mm, start, end);
	for (vma = vma_find(mm, start); !err && vma && vma->start < end; vma = vma_next(vma))
		pin_range(vma, MAX(start, vma->start), MIN(end, vma->end), lock);
	mutex_unlock(&mm->lock);
	return err ?: gap ? -ENOMEM : 0;
}

long do_mlock(struct mm_struct *mm, u32 addr, u32 len, bool lock)
{
	u32 start = addr & PAGE_MASK, end = PAGE_ALIGN(addr + len);
	int err;

	if (end < start)
		return -EINVAL;
	err = mlock_range(mm, start, end, lock);
	if (err || !lock)
		return err;
	err = mm_populate(mm, start, end);
	return err == -EIO ? -ENOMEM : err; /* a page that cannot be read counts as missing */
}

long do_mlockall(struct mm_struct *mm, bool current_pages, bool future_pages)
{
	int err = 0;

	mm->def_flags = future_pages ? VM_LOCKED : 0;
	if (current_pages || !future_pages)
		err = mlock_range(mm, 0, TASK_SIZE, current_pages);
	if (err == -ENOMEM) /* only because of gaps between regions */
		err = 0;
	if (!err && current_pages)
		mm_populate(mm, 0, TASK_SIZE - PAGE_SIZE);
	return err;
}

enum { MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE = 8 };

static u32 set_reading(struct vm_area_struct *vma, u32 advice)
{
	u32 flags = vma->flags & ~(VM_RAND_READ | VM_SEQ_READ);

	vma->ahead.advice = advice;
	if (advice == MADV_RANDOM)
		return flags | VM_RAND_READ;
	return advice == MADV_SEQUENTIAL && vma->inode ? flags | VM_SEQ_READ : flags;
}

STATIC_ASSERT((int)MADV_RANDOM == READ_RANDOM && (int)MADV_SEQUENTIAL == READ_SEQUENTIAL);

static void tell_policy(struct vm_area_struct *vma, u32 start, u32 end, enum vm_touch how)
{
	for (u32 addr = start; addr < end; addr += PAGE_SIZE) {
		pte_t *pte = pte_lookup(vma->mm->pgd, addr);
		struct page *page = pte && pte_present(*pte) ? pfn_page(pte_pfn(*pte)) : NULL;

		if (page && page_test(page, PG_owned))
			policy_call_touch(page, vma->mm, how);
	}
}

/* MADV_FREE is treated as MADV_NORMAL: keeping the data is always allowed. */
static int advise_region(struct vm_area_struct *vma, u32 start, u32 end, int advice)
{
	if (advice == MADV_WILLNEED) {
		tell_policy(vma, start, end, VM_TOUCH_WILLNEED);
		if (vma->inode)
			cache_will_need(vma->inode,
					vma->pgoff + ((start - vma->start) >> PAGE_SHIFT),
					(end - start) >> PAGE_SHIFT);
	}
	if (advice != MADV_DONTNEED)
		return 0;
	if (vma->flags & (VM_LOCKED | VM_HUGE))
		return -EINVAL;
	tell_policy(vma, start, end, VM_TOUCH_DONTNEED);
	unmap_range(vma, start, end);
	return 0;
}

long do_madvise(struct mm_struct *mm, u32 addr, u32 len, int advice)
{
	u32 end = PAGE_ALIGN(addr + len);
	struct vm_area_struct *vma;
	int err = 0;

	if (addr & ~PAGE_MASK || end < addr)
		return -EINVAL;
	if ((u32)advice > MADV_DONTNEED && advice != MADV_FREE)
		return -EINVAL;
	if (end == addr)
		return 0;
	mutex_lock(&mm->lock);
	if (advice <= MADV_SEQUENTIAL)
		err = vma_for_range(mm, addr, end, set_reading, advice);
	for (vma = vma_find(mm, addr); !err && vma && vma->start < end; vma = vma_next(vma))
		err = advise_region(vma, MAX(addr, vma->start), MIN(end, vma->end), advice);
	if (!err && !range_mapped(mm, addr, end)) /* mapped parts have been processed */
		err = -ENOMEM;
	mutex_unlock(&mm->lock);
	return err;
}
