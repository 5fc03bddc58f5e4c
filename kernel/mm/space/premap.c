/* Maps a page of a file before it is used, for what every program needs (kernel/fs/vdso.c). */
#include "errno.h"
#include "internal.h"
#include "mm/rmap.h"

int mm_map_cached(struct mm_struct *mm, u32 addr)
{
	pte_t *pte;

	mutex_lock(&mm->lock);
	pte = pte_alloc(mm->pgd, addr, &mm->count.ptes);
	if (pte)
		mm_count_file(mm, filemap_map_around(vma_find(mm, addr), addr));
	mutex_unlock(&mm->lock);
	return pte ? 0 : -ENOMEM;
}
