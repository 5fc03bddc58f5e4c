/* /proc/<pid>/maps: the regions of an address space, one per line, in Linux's format. */
#include "procfs.h"

#include "fs/vfs.h"
#include "mm/mm.h"
#include "sched/current.h"

#define NAME_COLUMN 49u /* column of the name on 32-bit Linux */

static void put_name(struct seq_file *m, const struct vm_area_struct *vma)
{
	/* Show functions never sleep, so only one runs at a time. */
	static char path[PATH_MAX];
	const struct mm_struct *mm = vma->mm;

	if (vma->inode && vfs_shmem_name(vma->inode))
		seq_printf(m, "%s (deleted)", vfs_shmem_name(vma->inode));
	else if (vma->inode)
		seq_puts(m, vfs_path_of(vma->inode, path, sizeof(path)) ? "(deleted)" : path);
	else if (vma->start <= mm->brk && vma->end >= mm->start_brk)
		seq_puts(m, "[heap]");
	else if (vma->flags & VM_GROWSDOWN)
		seq_puts(m, "[stack]");
}

static bool has_name(const struct vm_area_struct *vma)
{
	const struct mm_struct *mm = vma->mm;

	return vma->inode || vma->flags & VM_GROWSDOWN ||
	       (vma->start <= mm->brk && vma->end >= mm->start_brk);
}

void proc_maps_region(struct seq_file *m, const struct vm_area_struct *vma)
{
	size_t start = m->count;

	seq_printf(m, "%08x-%08x %c%c%c%c %08x 00:%02x %u ", vma->start, vma->end,
		   vma->flags & VM_READ ? 'r' : '-', vma->flags & VM_WRITE ? 'w' : '-',
		   vma->flags & VM_EXEC ? 'x' : '-', vma->flags & VM_SHARED ? 's' : 'p',
		   vma->inode ? vma->pgoff << PAGE_SHIFT : 0, vma->inode ? 1 : 0,
		   vma->inode ? vma->inode->ino : 0);
	if (has_name(vma)) {
		while (m->count - start < NAME_COLUMN && !m->overflow)
			seq_putc(m, ' ');
		put_name(m, vma);
	}
	seq_putc(m, '\n');
}

void proc_maps_show(struct seq_file *m, struct task_struct *t)
{
	const struct vm_area_struct *vma;

	if (!t->mm)
		return;
	list_for_each_entry(vma, &t->mm->vma_list, list)
		proc_maps_region(m, vma);
}
