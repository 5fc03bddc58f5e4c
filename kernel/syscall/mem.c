/* System calls that map and unmap memory. The address space checks its own arguments; this file checks
 * mapped files. */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"
#include "internal.h"
#include "mm/mm.h"
#include "sched/current.h"

long sys_brk(u32 addr)
{
	return limit_forbids_brk(addr) ? (long)current->mm->brk : do_brk(current->mm, addr);
}

/* May this file be mapped with prot and flags? Returns 0 or -errno. */
static int check_mapping(const struct file *f, u32 prot, u32 flags)
{
	if ((f->inode->mode & S_IFMT) != S_IFREG && (f->inode->mode & S_IFMT) != S_IFBLK)
		return -ENODEV;
	if (!file_may_read(f))
		return -EACCES;
	return flags & MAP_SHARED && prot & PROT_WRITE && !file_may_write(f) ? -EACCES : 0;
}

static long map_shared_anonymous(u32 addr, u32 len, u32 prot, u32 flags)
{
	struct inode *inode;
	int err = vfs_shmem_create("/dev/zero", PAGE_ALIGN((u64)len), &inode);
	long at;

	if (err)
		return -ENOMEM;
	at = do_mmap(current->mm, addr, len, prot, flags, inode, 0);
	inode_put(inode);
	return at;
}

long sys_mmap2(u32 addr, u32 len, u32 prot, u32 flags, u32 fd, u32 pgoff)
{
	struct file *f;
	long at;
	int err;

	flags &= ~MAP_NOWRITE;
	if (limit_forbids(len))
		return -ENOMEM;
	if (flags & MAP_ANONYMOUS && flags & MAP_SHARED)
		return map_shared_anonymous(addr, len, prot, flags);
	if (flags & MAP_ANONYMOUS)
		return do_mmap(current->mm, addr, len, prot, flags, NULL, 0);
	f = fd_file(fd);
	if (!f)
		return -EBADF;
	err = check_mapping(f, prot, flags);
	if (err)
		return err;
	if (flags & MAP_SHARED && !file_may_write(f))
		flags |= MAP_NOWRITE;
	at = do_mmap(current->mm, addr, len, prot, flags, f->inode, pgoff);
	if (!(at & ~PAGE_MASK) && !(f->flags & O_NOATIME))
		inode_note_read(f->inode);
	return at;
}

/* The old mmap call: its arguments are in user memory, and the offset is in bytes. */
long sys_mmap(const u32 *user)
{
	u32 a[6];

	if (copy_from_user(a, user, sizeof(a)))
		return -EFAULT;
	if (a[5] & (PAGE_SIZE - 1))
		return -EINVAL;
	return sys_mmap2(a[0], a[1], a[2], a[3], a[4], a[5] >> PAGE_SHIFT);
}

long sys_munmap(u32 addr, u32 len)
{
	return do_munmap(current->mm, addr, len);
}
