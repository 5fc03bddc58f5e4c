/*
 * The system calls that change regions: mmap, munmap, brk; mprotect is in protect.c, mremap in mremap.c.
 *
 * Each call first checks all arguments, then splits regions at the borders of the range, and then
 * works on whole regions. Splitting is the only step that can run out of memory, and is harmless by
 * itself.
 */
#include "errno.h"
#include "fs/vfs.h"
#include "lib/assert.h"
#include "internal.h"

u32 prot_to_vm(u32 prot, u32 flags)
{
	u32 vm = 0;

	if (prot & PROT_READ)
		vm |= VM_READ;
	if (prot & PROT_WRITE)
		vm |= VM_READ | VM_WRITE;
	if (prot & PROT_EXEC)
		vm |= VM_READ | VM_EXEC;
	if (flags & MAP_SHARED)
		vm |= VM_SHARED;
	if (flags & MAP_GROWSDOWN)
		vm |= VM_GROWSDOWN;
	if (flags & MAP_LOCKED)
		vm |= VM_LOCKED;
	if (flags & MAP_NOWRITE)
		vm |= VM_NOWRITE;
	if (flags & MAP_HUGETLB)
		vm |= VM_HUGE;
	return vm;
}

bool range_ok(u32 addr, u32 len)
{
	return !(addr & ~PAGE_MASK) && addr >= PAGE_SIZE && len && len <= TASK_SIZE - PAGE_SIZE &&
	       addr <= TASK_SIZE - PAGE_SIZE - len;
}

bool may_promise(u32 vm, u32 len)
{
	return !vm_is_promised(vm) || vm_may_commit(len >> PAGE_SHIFT);
}

int unmap_locked(struct mm_struct *mm, u32 start, u32 end)
{
	struct vm_area_struct *vma, *next;
	int err = vma_split_at(mm, start) ?: vma_split_at(mm, end);

	if (err)
		return err;
	for (vma = vma_find(mm, start); vma && vma->start < end; vma = next) {
		next = vma_next(vma);
		unmap_range(vma, vma->start, vma->end);
		vma_remove(vma);
		vma_free(vma);
	}
	free_tables_around(mm, start, end);
	return 0;
}

/* The bytes of the pages of a mapping: its length is a multiple of them, and its address, too. */
static u32 page_bytes(u32 flags)
{
	return flags & MAP_HUGETLB ? TABLE_SPAN : PAGE_SIZE;
}

static bool huge_ok(u32 flags, struct inode *inode)
{
	return !inode && !(flags & MAP_GROWSDOWN) &&
	       (!MAP_HUGE_SIZE(flags) || 1u << MAP_HUGE_SIZE(flags) == TABLE_SPAN);
}

static int check_mmap(u32 addr, u32 len, u32 flags, struct inode *inode, u32 pgoff)
{
	u32 type = flags & (MAP_SHARED | MAP_PRIVATE);

	if (!len || (type != MAP_SHARED && type != MAP_PRIVATE))
		return -EINVAL;
	if (flags & MAP_FIXED && addr % page_bytes(flags))
		return -EINVAL;
	if (flags & MAP_HUGETLB && !huge_ok(flags, inode))
		return -EINVAL;
	if (flags & MAP_FIXED && !range_ok(addr, ALIGN_UP(len, page_bytes(flags))))
		return addr < PAGE_SIZE ? -EPERM : -ENOMEM;
	if (!inode)
		return type == MAP_SHARED ? -ENODEV : 0;
	if ((inode->mode & S_IFMT) != S_IFREG && (inode->mode & S_IFMT) != S_IFBLK)
		return -ENODEV;
	return pgoff + (PAGE_ALIGN(len) >> PAGE_SHIFT) < pgoff ? -EOVERFLOW : 0;
}

/* Returns the address to map at: a fixed one; the requested one if it is free; otherwise any free range. */
static long choose_address(struct mm_struct *mm, u32 addr, u32 len, u32 flags)
{
	u32 unit = page_bytes(flags);
	struct vm_area_struct *vma;

	if (flags & MAP_FIXED && !(flags & MAP_FIXED_NOREPLACE))
		return addr;
	addr = ALIGN_DOWN(addr, unit);
	if (range_ok(addr, len)) {
		vma = vma_find(mm, addr);
		if (!vma || vma->start >= addr + len)
			return addr;
	}
	if (flags & MAP_FIXED_NOREPLACE)
		return -EEXIST;
	addr = vma_find_hole(mm, len + unit - PAGE_SIZE);
	return addr ? (long)ALIGN_UP(addr, unit) : -ENOMEM;
}

/* Adds a region to the free range. Returns NULL if out of memory. */
static struct vm_area_struct *add_region(struct mm_struct *mm, u32 at, u32 len, u32 vm,
					 struct inode *inode, u32 pgoff)
{
	struct vm_area_struct *vma = NULL;

	if (may_promise(vm, len))
		vma = vma_new(mm, at, at + len, vm, inode, pgoff);
	if (!vma)
		return NULL;
	vma_insert(vma);
	if (vm & VM_HUGE && huge_map(vma)) {
		vma_remove(vma);
		vma_free(vma);
		return NULL;
	}
	return vma_merge(vma);
}

long do_mmap(struct mm_struct *mm, u32 addr, u32 len, u32 prot, u32 flags, struct inode *inode,
	     u32 pgoff)
{
	struct vm_area_struct *vma;
	u32 vm;
	long at;
	int err = check_mmap(addr, len, flags, inode, pgoff);

	if (err)
		return err;
	if (len > TASK_SIZE - 2 * page_bytes(flags))
		return -ENOMEM;
	len = ALIGN_UP(len, page_bytes(flags));
	mutex_lock(&mm->lock);
	at = mm->map_count < max_map_count ? choose_address(mm, addr, len, flags) : -ENOMEM;
	if (at < 0 && at > -4096)
		goto out;
	if (flags & MAP_FIXED) {
		err = unmap_locked(mm, at, at + len);
		if (err)
			goto fail;
	}
	vm = prot_to_vm(prot, flags) | mm->def_flags;
	err = -ENOMEM;
	vma = add_region(mm, at, len, vm, inode, pgoff);
	if (!vma)
		goto fail;
	mutex_unlock(&mm->lock);
	if (vma->flags & VM_LOCKED || flags & MAP_POPULATE)
		mm_populate(mm, at, at + len);
	return at;
fail:
	at = err;
out:
	mutex_unlock(&mm->lock);
	return at;
}

long do_munmap(struct mm_struct *mm, u32 addr, u32 len)
{
	int err;

	len = PAGE_ALIGN(len);
	if (!range_ok(addr, len))
		return -EINVAL;
	mutex_lock(&mm->lock);
	err = unmap_locked(mm, addr, addr + len);
	mutex_unlock(&mm->lock);
	return err;
}

static bool extend_brk(struct mm_struct *mm, u32 from, u32 to)
{
	struct vm_area_struct *vma = vma_find(mm, from);

	if (to > USER_MMAP_TOP || (vma && vma->start < to) || mm->map_count >= max_map_count ||
	    !vm_may_commit((to - from) >> PAGE_SHIFT))
		return false;
	vma = vma_new(mm, from, to, VM_READ | VM_WRITE | mm->def_flags, NULL, 0);
	if (!vma)
		return false;
	vma_insert(vma);
	vma_merge(vma);
	return true;
}

long do_brk(struct mm_struct *mm, u32 addr)
{
	u32 from = PAGE_ALIGN(mm->brk), to = PAGE_ALIGN(addr);
	bool done = true;

	if (addr < mm->start_brk || addr > USER_MMAP_TOP)
		return mm->brk;
	mutex_lock(&mm->lock);
	if (to < from)
		done = !unmap_locked(mm, to, from);
	else if (to > from)
		done = extend_brk(mm, from, to);
	if (done)
		mm->brk = addr;
	mutex_unlock(&mm->lock);
	if (done && to > from && mm->def_flags & VM_LOCKED)
		mm_populate(mm, from, to);
	return mm->brk;
}
