/* /proc/<pid>/maps: the regions of an address space, one per line, in Linux's format. */
#include "procfs.h"

#include "fs/vfs.h"
#include "mm/mm.h"
#include "sched/current.h"

#define NAME_COLUMN 49u /* column of the name on 32-bit Linux */

/* Returns the name that the kernel gives to a region, such as "[heap]", or NULL if it has only its
 * file's name or none. */
static const char *special_name(const struct vm_area_struct *vma)
{
	const struct mm_struct *mm = vma->mm;

	if (vma->inode)
		return vma->inode->sb->unnamed && *(char *)vma->inode->private == '['
			       ? vma->inode->private
			       : NULL;
	if (vma->start <= mm->brk && vma->end >= mm->start_brk)
		return "[heap]";
	return vma->flags & VM_GROWSDOWN ? "[stack]" : NULL;
}

static void put_file_name(struct seq_file *m, struct inode *inode)
{
	/* Show functions never sleep, so only one runs at a time. */
	static char path[PATH_MAX];

	if (inode->sb->unnamed)
		seq_printf(m, "%s (deleted)", (char *)inode->private);
	else
		seq_puts(m, vfs_path_of(inode, path, sizeof(path)) ? "(deleted)" : path);
}

void proc_maps_region(struct seq_file *m, const struct vm_area_struct *vma)
{
	const char *name = special_name(vma);
	struct inode *file = name ? NULL : vma->inode;
	size_t start = m->count;

	seq_printf(m, "%08x-%08x %c%c%c%c %08x 00:%02x %u ", vma->start, vma->end,
		   vma->flags & VM_READ ? 'r' : '-', vma->flags & VM_WRITE ? 'w' : '-',
		   vma->flags & VM_EXEC ? 'x' : '-', vma->flags & VM_SHARED ? 's' : 'p',
		   file ? vma->pgoff << PAGE_SHIFT : 0, file ? 1 : 0, file ? file->ino : 0);
	if (name || file) {
		while (m->count - start < NAME_COLUMN && !m->overflow)
			seq_putc(m, ' ');
		if (name)
			seq_puts(m, name);
		else
			put_file_name(m, file);
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
