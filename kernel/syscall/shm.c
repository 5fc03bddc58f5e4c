/* System calls on shared memory: memfd_create, and System V's, by their own numbers and by
 * ipc(2). */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/shm.h"
#include "fs/files.h"
#include "lib/string.h"

#define MFD_CLOEXEC 1u
#define MFD_ALLOW_SEALING 2u
#define MFD_NAME_MAX 249u

#define IPC_64 0x100u /* in cmd: the layout of struct shmid_ds; without it, that of Linux 2.2 */

enum { IPC_SHMAT = 21, IPC_SHMDT, IPC_SHMGET, IPC_SHMCTL };

long sys_memfd_create(const char *user_name, u32 flags)
{
	char name[sizeof("/memfd:") + MFD_NAME_MAX] = "/memfd:";
	u32 prefix = strlen(name);
	struct inode *inode;
	struct file *f;
	long fd;
	int n;

	if (flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING))
		return -EINVAL;
	n = strncpy_from_user(name + prefix, user_name, MFD_NAME_MAX + 1);
	if (n < 0)
		return n == -ENAMETOOLONG ? -EINVAL : n;
	fd = vfs_shmem_create(name, 0, &inode);
	if (fd)
		return fd;
	fd = vfs_shmem_open(inode, &f);
	inode_put(inode);
	if (fd)
		return fd;
	fd = fd_install(f, 0, flags & MFD_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}

long sys_shmget(u32 key, u32 size, u32 flags)
{
	return shm_get(key, size, flags);
}

long sys_shmat(u32 id, u32 addr, u32 flags)
{
	return shm_attach(id, addr, flags);
}

long sys_shmdt(u32 addr)
{
	return shm_detach(addr);
}

long sys_shmctl(u32 id, u32 cmd, void *buf)
{
	struct shmid_ds ds = { 0 };
	long err;

	if (cmd == IPC_SET && copy_from_user(&ds, buf, sizeof(ds)))
		return -EFAULT;
	err = shm_control(id, cmd, &ds);
	if (!err && cmd == IPC_STAT && copy_to_user(buf, &ds, sizeof(ds)))
		return -EFAULT;
	return err;
}

/* ipc(SHMAT) returns the address through *where. */
static long attach_to(u32 id, void *addr, u32 flags, void *where)
{
	long at = shm_attach(id, (u32)addr, flags);

	if (at < 0 && at > -4096)
		return at;
	return put_user_u32(where, at);
}

long sys_ipc(u32 call, u32 first, u32 second, u32 third, void *ptr)
{
	switch (call) {
	case IPC_SHMAT:
		return attach_to(first, ptr, second, (void *)third);
	case IPC_SHMDT:
		return shm_detach((u32)ptr);
	case IPC_SHMGET:
		return shm_get(first, second, third);
	case IPC_SHMCTL:
		if (second != IPC_RMID && !(second & IPC_64))
			return -EINVAL;
		return sys_shmctl(first, second & ~IPC_64, ptr);
	}
	return -ENOSYS;
}
