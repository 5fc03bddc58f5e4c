/*
 * Changing the flags of regions, and mprotect, which also changes page-table entries.
 *
 * As in mmap.c, all arguments are checked and regions are split before anything changes.
 */
#include "errno.h"
#include "internal.h"

static void change_flags(struct vm_area_struct *vma, u32 flags)
{
	u32 start = vma->start, end = vma->end;

	vma_resize(vma, start, start); /* count again under the new flags */
	vma->flags = flags;
	vma_resize(vma, start, end);
}

/* Splits at the borders and calls `change` for each region in the range. Caller holds mm->lock. */
int vma_for_range(struct mm_struct *mm, u32 start, u32 end,
		  u32 (*change)(struct vm_area_struct *vma, u32 arg), u32 arg)
{
	struct vm_area_struct *vma;
	int err = vma_split_at(mm, start) ?: vma_split_at(mm, end);

	if (err)
		return err;
	for (vma = vma_find(mm, start); vma && vma->start < end; vma = vma_next(vma)) {
		change_flags(vma, change(vma, arg));
		vma = vma_merge(vma);
	}
	return 0;
}

static u32 set_protection(struct vm_area_struct *vma, u32 vm)
{
	return (vma->flags & ~(VM_READ | VM_WRITE | VM_EXEC)) | vm;
}

/* May the whole range become writable, and may its memory be committed? Returns 0, -EACCES, -ENOMEM. */
static int check_writable(struct mm_struct *mm, u32 start, u32 end)
{
	struct vm_area_struct *vma;
	u32 bytes = 0;

	for (vma = vma_find(mm, start); vma && vma->start < end; vma = vma_next(vma)) {
		if (vma->flags & VM_NOWRITE)
			return -EACCES;
		if (!(vma->flags & (VM_SHARED | VM_WRITE)))
			bytes += MIN(vma->end, end) - MAX(vma->start, start);
	}
	return !bytes || vm_may_commit(bytes >> PAGE_SHIFT) ? 0 : -ENOMEM;
}

bool range_mapped(struct mm_struct *mm, u32 start, u32 end)
{
	struct vm_area_struct *vma = vma_find(mm, start);

	while (start < end) {
		if (!vma || vma->start > start)
			return false;
		start = vma->end;
		vma = vma_next(vma);
	}
	return true;
}

/* Rights that were lost are removed at once; rights that were gained are set by the next fault. */
static pte_t protect_entry(struct vm_area_struct *vma, pte_t e)
{
	if (!(vma->flags & VM_READ))
		return pte_noaccess(e) ? e : pte_mknoaccess(e);
	if (pte_noaccess(e))
		e = pte_mkaccess(e);
	return vma->flags & VM_WRITE ? e : pte_wrprotect(e);
}

static void protect_range(struct vm_area_struct *vma, u32 start, u32 end)
{
	struct mm_struct *mm = vma->mm;

	if (vma->flags & VM_HUGE) {
		huge_protect(vma, start, end);
		return;
	}
	for (u32 next; start != end; start = next) {
		pte_t *pte;

		next = table_end(start, end);
		if (!pgd_has_table(mm->pgd, start))
			continue;
		pte = pte_lookup(mm->pgd, start);
		for (u32 n = (next - start) >> PAGE_SHIFT; n; n--, pte++)
			if (pte_present(*pte) || pte_noaccess(*pte))
				*pte = protect_entry(vma, *pte);
	}
	tlb_flush_all(mm->pgd);
}

long do_mprotect(struct mm_struct *mm, u32 addr, u32 len, u32 prot)
{
	struct vm_area_struct *vma;
	int err;

	if (addr & ~PAGE_MASK || prot & ~7u)
		return -EINVAL;
	if (!len)
		return 0;
	len = PAGE_ALIGN(len);
	if (!range_ok(addr, len))
		return -ENOMEM;
	mutex_lock(&mm->lock);
	err = range_mapped(mm, addr, addr + len) ? 0 : -ENOMEM;
	if (!err && prot & PROT_WRITE)
		err = check_writable(mm, addr, addr + len);
	if (!err)
		err = vma_for_range(mm, addr, addr + len, set_protection, prot_to_vm(prot, 0));
	for (vma = vma_find(mm, addr); !err && vma && vma->start < addr + len; vma = vma_next(vma))
		protect_range(vma, MAX(addr, vma->start), MIN(addr + len, vma->end));
	mutex_unlock(&mm->lock);
	return err;
}
