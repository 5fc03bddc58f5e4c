/* msync writes the files that a range of memory maps; mincore tells which pages of a range are
 * resident. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/vfs.h"
#include "mm/mm.h"
#include "mm/swap.h"
#include "sched/current.h"

enum { MS_ASYNC = 1, MS_INVALIDATE = 2, MS_SYNC = 4 };

#define PART 64u /* pages that mincore answers at once */

/* A region as msync sees it; inode: with a reference, or NULL. */
struct piece {
	u32 start, end, flags;
	struct inode *inode;
};

/* Stores the first region that ends after addr. Returns false if there is none. Writing sleeps, so
 * the region itself must not be kept. */
static bool next_piece(u32 addr, struct piece *p)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;

	mutex_lock(&mm->lock);
	vma = vma_find(mm, addr);
	if (vma)
		*p = (struct piece){ vma->start, vma->end, vma->flags, vma->inode };
	if (vma && vma->inode)
		inode_get(vma->inode);
	mutex_unlock(&mm->lock);
	return vma;
}

/* Writes a file that is open only as a mapping. */
static int sync_mapped(struct inode *inode)
{
	struct file f = { .inode = inode,
			  .fops = inode->fops,
			  .errors_told = inode->cache.errors_told };

	return vfs_fsync(&f);
}

/* With MS_ASYNC nothing is written at once, as on Linux: writeback writes dirty pages later. */
static int sync_piece(const struct piece *p, u32 flags)
{
	int err = 0;

	if (flags & MS_INVALIDATE && p->flags & VM_LOCKED)
		err = -EBUSY;
	else if (flags & MS_SYNC && p->inode && p->flags & VM_SHARED)
		err = sync_mapped(p->inode);
	if (p->inode)
		inode_put(p->inode);
	return err;
}

/* Holes are skipped, and reported at the end. */
long sys_msync(u32 addr, u32 len, u32 flags)
{
	u32 end = addr + PAGE_ALIGN(len);
	int missing = 0, err = 0;
	struct piece p = { 0 };

	if (flags & ~(MS_ASYNC | MS_INVALIDATE | MS_SYNC) || addr & ~PAGE_MASK ||
	    (flags & MS_ASYNC && flags & MS_SYNC))
		return -EINVAL;
	if (end < addr || (len && end == addr))
		return -ENOMEM;
	for (; addr < end && !err; addr = p.end) {
		if (!next_piece(addr, &p))
			return -ENOMEM;
		if (p.start > addr)
			missing = -ENOMEM;
		err = sync_piece(&p, p.start < end ? flags : 0);
	}
	return err ? err : missing;
}

static bool is_resident(const struct vm_area_struct *vma, u32 addr)
{
	const pte_t *pte = pte_lookup(vma->mm->pgd, addr);

	if (pte && pte_is_swap(*pte))
		return swap_cached(pte_swap_slot(*pte));
	if ((pte && !pte_none(*pte)) || vma->flags & VM_HUGE)
		return true;
	return vma->inode &&
	       cache_is_resident(vma->inode, vma->pgoff + ((addr - vma->start) >> PAGE_SHIFT));
}

/* Returns 0, or -ENOMEM at a hole. */
static int look(u32 addr, u32 nr, u8 *answers)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	u32 i;

	mutex_lock(&mm->lock);
	for (i = 0; i < nr; i++, addr += PAGE_SIZE) {
		vma = vma_find(mm, addr);
		if (!vma || vma->start > addr)
			break;
		answers[i] = is_resident(vma, addr);
	}
	mutex_unlock(&mm->lock);
	return i == nr ? 0 : -ENOMEM;
}

long sys_mincore(u32 addr, u32 len, u8 *user)
{
	u32 left = (len >> PAGE_SHIFT) + !!(len & ~PAGE_MASK);
	u8 answers[PART];

	if (addr & ~PAGE_MASK)
		return -EINVAL;
	if (addr > TASK_SIZE || len > TASK_SIZE - addr)
		return -ENOMEM;
	if (!access_ok(user, left))
		return -EFAULT;
	for (u32 nr; left; left -= nr, addr += nr << PAGE_SHIFT, user += nr) {
		nr = MIN(left, PART);
		if (look(addr, nr, answers))
			return -ENOMEM;
		if (copy_to_user(user, answers, nr))
			return -EFAULT;
	}
	return 0;
}
