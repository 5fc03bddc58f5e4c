/*
 * mremap: a mapping grows, shrinks or moves, with its pages.
 *
 *	shrink               unmaps the end
 *	grow, space behind   in place
 *	grow, no space       moves to a hole, if MREMAP_MAYMOVE permits it
 *	MREMAP_FIXED         moves to the given address and replaces what is mapped there
 *	from 0 pages         maps shared memory a second time
 *
 * Moving copies no page: page-table entries move, whether they map a frame or name a swap slot. First comes
 * everything that can fail or sleep (splitting, a new region, page tables for the destination), then all
 * entries are moved without sleeping, so that the reverse map finds each page in its old or new place.
 *
 * The reverse map finds an anonymous page by its number (mm/rmap.h). If the process has no relatives, the pages
 * get the numbers of their new addresses. Otherwise relatives may map the same pages at the old address, so the
 * pages keep their numbers, and the new region remembers the distance.
 */
#include "arch/mmu.h"
#include "errno.h"
#include "internal.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/frames.h"

#define MREMAP_MAYMOVE 1u
#define MREMAP_FIXED 2u

/* Does another process descend from the same execve? */
static bool has_relatives(const struct mm_struct *mm)
{
	return mm->family_node.next != mm->family_node.prev;
}

/* A move of [from, from + len) to [to, to + len), which becomes to_len long. */
struct move {
	struct mm_struct *mm;
	u32 from, len, to, to_len;
};

/* Allocates page tables for what has tables now. Returns 0 or -ENOMEM. May sleep. */
static int make_tables(const struct move *m)
{
	struct mm_struct *mm = m->mm;

	for (u32 done = 0; done < m->len; done += PAGE_SIZE)
		if (pgd_has_table(mm->pgd, m->from + done) &&
		    !pte_alloc(mm->pgd, m->to + done, &mm->count.ptes))
			return -ENOMEM;
	return 0;
}

/* Gives the page that an entry maps or names the number of its new address. */
static void renumber(pte_t e, u32 vpn)
{
	struct page *page = NULL;

	if (!pte_is_swap(e))
		page = pfn_page(pte_pfn(e));
	else if (swap_cached(pte_swap_slot(e)))
		page = swap_index.cache[pte_swap_slot(e) >> AREA_SHIFT][pte_swap_slot(e)];
	if (page && page_test(page, PG_anon))
		page->index = vpn;
}

static void move_entries(const struct move *m, bool alone)
{
	for (u32 done = 0; done < m->len; done += PAGE_SIZE) {
		pte_t *from = pte_lookup(m->mm->pgd, m->from + done), *to;

		if (!from || pte_none(*from))
			continue;
		to = pte_lookup(m->mm->pgd, m->to + done);
		*to = *from;
		*from = pte_zero();
		if (alone)
			renumber(*to, (m->to + done) >> PAGE_SHIFT);
	}
	tlb_flush_all(m->mm->pgd);
}

static struct vm_area_struct *region_at(const struct move *m, const struct vm_area_struct *old)
{
	u32 pgoff = old->pgoff + ((m->from - old->start) >> PAGE_SHIFT);
	struct vm_area_struct *vma;

	vma = vma_new(m->mm, m->to, m->to + m->to_len, old->flags, old->inode, pgoff);
	if (vma)
		vma->ahead.advice = old->ahead.advice;
	return vma;
}

/* Moves a range, part of one region, to a free destination. Returns 0 or -ENOMEM. */
static int move(const struct move *m)
{
	struct mm_struct *mm = m->mm;
	bool alone = !has_relatives(mm);
	struct vm_area_struct *old, *new;
	int err = 0;

	if (m->len)
		err = vma_split_at(mm, m->from) ?: vma_split_at(mm, m->from + m->len);
	if (err)
		return err;
	old = vma_find(mm, m->from);
	new = region_at(m, old);
	if (!new)
		return -ENOMEM;
	err = make_tables(m);
	if (err) {
		vma_free(new);
		free_tables_around(mm, m->to, m->to + m->to_len);
		return err;
	}
	vma_set_moved(new,
		      alone ? 0 : old->moved + (m->to >> PAGE_SHIFT) - (m->from >> PAGE_SHIFT));
	vma_insert(new);
	move_entries(m, alone);
	if (m->len) {
		vma_remove(old);
		vma_free(old);
		free_tables_around(mm, m->from, m->from + m->len);
	}
	vma_merge(new);
	return 0;
}

/* May [addr, addr + old_len) become new_len long, here or elsewhere? Returns 0 or -errno. */
static int check_resize(const struct vm_area_struct *vma, u32 addr, u32 old_len, u32 new_len)
{
	u32 pgoff = vma->pgoff + ((addr - vma->start) >> PAGE_SHIFT);

	if (!old_len && !(vma->flags & VM_SHARED))
		return -EINVAL;
	if (old_len > vma->end - addr)
		return -EFAULT;
	if (vma->inode && pgoff + (new_len >> PAGE_SHIFT) < pgoff)
		return -EINVAL;
	return new_len <= old_len || may_promise(vma->flags, new_len - old_len) ? 0 : -ENOMEM;
}

static bool fits_in_place(struct vm_area_struct *vma, u32 addr, u32 old_len, u32 new_len)
{
	struct vm_area_struct *next = vma_next(vma);

	return old_len && vma->end == addr + old_len && range_ok(addr, new_len) &&
	       !(next && next->start < addr + new_len);
}

/* Returns the address of the grown range, or -errno. */
static long grow(struct mm_struct *mm, u32 addr, u32 old_len, u32 new_len, bool may_move)
{
	struct vm_area_struct *vma = vma_find(mm, addr);
	struct move m = { mm, addr, old_len, 0, new_len };
	int err = check_resize(vma, addr, old_len, new_len);

	if (err)
		return err;
	if (fits_in_place(vma, addr, old_len, new_len)) {
		vma_resize(vma, vma->start, addr + new_len);
		return addr;
	}
	if (!may_move || mm->map_count >= max_map_count || new_len > TASK_SIZE - 2 * PAGE_SIZE)
		return -ENOMEM;
	m.to = vma_find_hole(mm, new_len);
	if (!m.to)
		return -ENOMEM;
	err = move(&m);
	return err ? err : (long)m.to;
}

/* MREMAP_FIXED. What was mapped at the new address is gone even if the rest fails, as on Linux. */
static long move_to(struct mm_struct *mm, u32 addr, u32 old_len, u32 new_len, u32 to)
{
	struct move m = { mm, addr, MIN(old_len, new_len), to, new_len };
	struct vm_area_struct *vma;
	int err;

	if (!range_ok(to, new_len) || (to < addr + old_len && addr < to + new_len))
		return -EINVAL;
	if (mm->map_count + 2 >= max_map_count)
		return -ENOMEM;
	err = unmap_locked(mm, to, to + new_len);
	if (!err && new_len < old_len)
		err = unmap_locked(mm, addr + new_len, addr + old_len);
	if (err)
		return err;
	vma = vma_find(mm, addr);
	if (!vma || vma->start > addr)
		return -EFAULT;
	err = check_resize(vma, addr, m.len, new_len) ?: move(&m);
	return err ? err : (long)to;
}

long do_mremap(struct mm_struct *mm, u32 addr, u32 old_len, u32 new_len, u32 flags, u32 new_addr)
{
	struct vm_area_struct *vma;
	long ret = addr;
	bool locked;

	old_len = PAGE_ALIGN(old_len);
	new_len = PAGE_ALIGN(new_len);
	if (addr & ~PAGE_MASK || !new_len || flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED) ||
	    flags == MREMAP_FIXED || (old_len && !range_ok(addr, old_len)))
		return -EINVAL;
	mutex_lock(&mm->lock);
	vma = vma_find(mm, addr);
	locked = vma && vma->flags & VM_LOCKED;
	if (!vma || vma->start > addr)
		ret = -EFAULT;
	else if (vma->flags & VM_HUGE)
		ret = -EINVAL;
	else if (flags & MREMAP_FIXED)
		ret = move_to(mm, addr, old_len, new_len, new_addr);
	else if (new_len > old_len)
		ret = grow(mm, addr, old_len, new_len, flags & MREMAP_MAYMOVE);
	else if (new_len < old_len)
		ret = unmap_locked(mm, addr + new_len, addr + old_len) ?: (long)addr;
	mutex_unlock(&mm->lock);
	if (locked && new_len > old_len && (ret >= 0 || ret < -4095))
		mm_populate(mm, ret, ret + new_len);
	return ret;
}

u32 vpn_in_owner(const struct page *page)
{
	struct mm_struct *mm = page->owner;
	u32 slot = page_test(page, PG_swapcache) ? page->slot : 0;
	struct interval *i;

	for_each_interval(i, &mm->family->moved, page->index, page->index) {
		struct vm_area_struct *vma = rb_entry(i, struct vm_area_struct, home);
		u32 vpn = page->index + vma->moved;
		pte_t *e = vma->mm == mm ? pte_lookup(mm->pgd, vpn << PAGE_SHIFT) : NULL;

		if (e && (entry_of(page, mm, vpn << PAGE_SHIFT) ||
			  (slot && pte_is_swap(*e) && pte_swap_slot(*e) == slot)))
			return vpn;
	}
	return page->index;
}
