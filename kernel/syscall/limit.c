/*
 * System calls on resource limits. Limits are kept in 32 bits; a larger value means no limit, as in
 * Linux's 32-bit calls. Root may raise hard limits, but NOFILE not above the size of the descriptor
 * table.
 *
 * Enforced: CPU, FSIZE, DATA (brk only), STACK, NOFILE and AS. CORE has no effect, since core dumps are
 * never written. NPROC and MEMLOCK do not bind root, and the others have no effect on Linux either.
 */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"
#include "internal.h"
#include "mm/mm.h"
#include "sched/task.h"

#define RLIM_INFINITY_OLD 0x7fffffffu

bool limit_forbids(u32 bytes)
{
	u32 limit = current->limits[RLIMIT_AS].soft >> PAGE_SHIFT;

	return current->mm->count.total_vm + (PAGE_ALIGN((u64)bytes) >> PAGE_SHIFT) > limit;
}

bool limit_forbids_brk(u32 addr)
{
	const struct mm_struct *mm = current->mm;
	u64 data = (u64)addr - mm->start_brk + mm->end_data - mm->start_data;

	if (addr <= mm->brk)
		return false;
	return data > current->limits[RLIMIT_DATA].soft || limit_forbids(addr - mm->brk);
}

/* Returns the limit of a process, pid 0: the caller. Returns NULL if there is no such process. */
static struct rlimit *find_limit(int pid, u32 resource)
{
	struct task_struct *t = pid ? task_find(pid) : current;

	return t ? &t->limits[resource] : NULL;
}

static int check_limit(u32 resource, const struct rlimit *old, const struct rlimit *new)
{
	if (new->soft > new->hard)
		return -EINVAL;
	if (new->hard > old->hard && !is_root())
		return -EPERM;
	return resource == RLIMIT_NOFILE && new->hard > NR_OPEN ? -EPERM : 0;
}

static void set_limit(u32 resource, struct rlimit *limit, struct rlimit new)
{
	if (resource == RLIMIT_CPU && !new.soft) /* as on Linux: at once would be too early */
		new.soft = 1;
	*limit = new;
}

static u64 widen(u32 limit)
{
	return limit == RLIM_INFINITY ? UINT64_MAX : limit;
}

static u32 narrow(u64 limit)
{
	return MIN(limit, (u64)RLIM_INFINITY);
}

long sys_prlimit64(int pid, u32 resource, const void *user_new, void *user_old)
{
	struct rlimit *limit, new;
	u64 wide[2], old[2];
	int err;

	if (user_new && copy_from_user(wide, user_new, sizeof(wide)))
		return -EFAULT;
	if (resource >= NR_RLIMITS)
		return -EINVAL;
	limit = find_limit(pid, resource);
	if (!limit)
		return -ESRCH;
	old[0] = widen(limit->soft);
	old[1] = widen(limit->hard);
	if (user_new) {
		if (wide[0] > wide[1])
			return -EINVAL;
		new = (struct rlimit){ narrow(wide[0]), narrow(wide[1]) };
		err = check_limit(resource, limit, &new);
		if (err)
			return err;
		set_limit(resource, limit, new);
	}
	return user_old ? copy_to_user(user_old, old, sizeof(old)) : 0;
}

long sys_ugetrlimit(u32 resource, void *user)
{
	if (resource >= NR_RLIMITS)
		return -EINVAL;
	return copy_to_user(user, &current->limits[resource], sizeof(struct rlimit));
}

long sys_getrlimit(u32 resource, void *user)
{
	struct rlimit limit;

	if (resource >= NR_RLIMITS)
		return -EINVAL;
	limit = current->limits[resource];
	limit.soft = MIN(limit.soft, RLIM_INFINITY_OLD);
	limit.hard = MIN(limit.hard, RLIM_INFINITY_OLD);
	return copy_to_user(user, &limit, sizeof(limit));
}

long sys_setrlimit(u32 resource, const void *user)
{
	struct rlimit new;
	int err;

	if (copy_from_user(&new, user, sizeof(new)))
		return -EFAULT;
	if (resource >= NR_RLIMITS)
		return -EINVAL;
	err = check_limit(resource, &current->limits[resource], &new);
	if (!err)
		set_limit(resource, &current->limits[resource], new);
	return err;
}
