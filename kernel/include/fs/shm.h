/* System V shared memory: the work behind shmget, shmat, shmdt and shmctl. */
#ifndef FS_SHM_H
#define FS_SHM_H

#include "types.h"

#define IPC_RMID 0u
#define IPC_SET 1u
#define IPC_STAT 2u

/* What IPC_STAT returns, in Linux's layout (struct shmid64_ds of i386). */
struct shmid_ds {
	u32 key, uid, gid, cuid, cgid;
	u16 mode, pad1, seq, pad2;
	u32 unused[2];
	u32 size;
	u32 atime, atime_high, dtime, dtime_high, ctime, ctime_high; /* s since 1970 */
	u32 cpid, lpid, nattch;
	u32 unused2[2];
};

STATIC_ASSERT(sizeof(struct shmid_ds) == 84);

/* Returns the identifier, or -ENOENT, -EEXIST, -EINVAL, -ENOSPC or -ENOMEM. */
long shm_get(u32 key, u32 size, u32 flags);
/* Returns the address, or -EINVAL or -ENOMEM. */
long shm_attach(u32 id, u32 addr, u32 flags);
/* Returns 0 or -EINVAL. */
long shm_detach(u32 addr);
/* IPC_RMID, IPC_SET (mode and owner from *ds), IPC_STAT (to *ds). Returns 0 or -EINVAL. */
long shm_control(u32 id, u32 cmd, struct shmid_ds *ds);

#endif
