/* System calls that describe the machine or a process. */
#include "arch/time.h"
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/vfs.h"
#include "internal.h"
#include "lib/param.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "mm/swap.h"
#include "mm/zone.h"
#include "lib/random.h"
#include "proc/task.h"
#include "sched/task.h"

#define TICK_NS 10000000u /* unit of times(2): 100 per second */
#define RLIM_INFINITY UINT32_MAX
#define RLIM_INFINITY_OLD 0x7fffffffu

struct utsname {
	char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};

struct sysinfo {
	u32 uptime, loads[3];
	u32 totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	u16 procs, pad;
	u32 totalhigh, freehigh, mem_unit;
	u8 unused[8];
};

STATIC_ASSERT(sizeof(struct sysinfo) == 64);

/* Programs use the release to find out which calls exist. Old C libraries refuse to start on a
 * release before 3.2, and 6.1 has all the calls implemented here. */
long sys_uname(void *user)
{
	static const struct utsname name = {
		.sysname = "Linux",
		.nodename = "tidemark",
		.release = "6.1.0-tidemark",
		.version = "#1 Tidemark",
		.machine = "i686",
		.domainname = "(none)",
	};

	return copy_to_user(user, &name, sizeof(name));
}

long sys_times(void *user)
{
	struct task_struct *t = current;
	u32 tms[4] = {
		task_utime_ns(t) / TICK_NS,
		task_stime_ns(t) / TICK_NS,
		t->child_utime_ns / TICK_NS,
		t->child_stime_ns / TICK_NS,
	};

	if (user && copy_to_user(user, tms, sizeof(tms)))
		return -EFAULT;
	return (clock_ns() / TICK_NS) & INT32_MAX;
}

long sys_sysinfo(void *user)
{
	const struct zone *high = &zones[ZONE_HIGHMEM];
	struct sysinfo info = {
		.uptime = clock_ns() / 1000000000u,
		.totalram = nr_managed_pages(),
		.freeram = nr_free_pages(),
		.totalswap = swap_nr_usable,
		.freeswap = swap_nr_free,
		.totalhigh = high->managed,
		.freehigh = high->nr_free,
		.procs = nr_tasks(),
		.mem_unit = PAGE_SIZE,
	};

	sched_loadavg(info.loads);
	for (int i = 0; i < 3; i++)
		info.loads[i] <<= 16 - 11;
	return copy_to_user(user, &info, sizeof(info));
}

/* Limits are fixed: they can be read, and set only to their own value. */
static int limit_get(u32 resource, u32 *value)
{
	enum { RLIMIT_STACK = 3, RLIMIT_CORE = 4, RLIMIT_NPROC = 6, RLIMIT_NOFILE, NR_LIMITS = 16 };

	if (resource >= NR_LIMITS)
		return -EINVAL;
	*value = RLIM_INFINITY;
	if (resource == RLIMIT_STACK)
		*value = STACK_LIMIT;
	else if (resource == RLIMIT_CORE)
		*value = 0;
	else if (resource == RLIMIT_NPROC)
		*value = max_threads;
	else if (resource == RLIMIT_NOFILE)
		*value = NR_OPEN;
	return 0;
}

static u64 widen(u32 limit)
{
	return limit == RLIM_INFINITY ? UINT64_MAX : limit;
}

long sys_prlimit64(int pid, u32 resource, const void *user_new, void *user_old)
{
	u64 new[2], old[2];
	u32 limit;

	if (limit_get(resource, &limit))
		return -EINVAL;
	if (pid && !task_find(pid))
		return -ESRCH;
	if (user_new && copy_from_user(new, user_new, sizeof(new)))
		return -EFAULT;
	old[0] = old[1] = widen(limit);
	if (user_old && copy_to_user(user_old, old, sizeof(old)))
		return -EFAULT;
	return user_new && (new[0] != old[0] || new[1] != old[1]) ? -EPERM : 0;
}

long sys_ugetrlimit(u32 resource, void *user)
{
	u32 limit[2];

	if (limit_get(resource, &limit[0]))
		return -EINVAL;
	limit[1] = limit[0];
	return copy_to_user(user, limit, sizeof(limit));
}

long sys_getrlimit(u32 resource, void *user)
{
	u32 limit[2];

	if (limit_get(resource, &limit[0]))
		return -EINVAL;
	limit[0] = limit[1] = MIN(limit[0], RLIM_INFINITY_OLD);
	return copy_to_user(user, limit, sizeof(limit));
}

long sys_setrlimit(u32 resource, const void *user)
{
	u32 limit, new[2];

	if (limit_get(resource, &limit))
		return -EINVAL;
	if (copy_from_user(new, user, sizeof(new)))
		return -EFAULT;
	return new[0] != limit || new[1] != limit ? -EPERM : 0;
}

long sys_prctl(u32 option, void *user)
{
	enum { PR_SET_NAME = 15, PR_GET_NAME = 16 };
	char name[TASK_COMM_LEN] = { 0 };

	switch (option) {
	case PR_SET_NAME: /* cut to fit: the last byte stays 0 */
		if (strncpy_from_user(name, user, sizeof(name) - 1) == -EFAULT)
			return -EFAULT;
		task_set_comm(current, name);
		return 0;
	case PR_GET_NAME:
		return copy_to_user(user, current->comm, TASK_COMM_LEN);
	default:
		return -EINVAL;
	}
}

long sys_getrandom(void *user, u32 n, u32 flags)
{
	u8 buf[64];
	u32 done = 0;

	if (flags & ~7u)
		return -EINVAL;
	n = MIN(n, (u32)INT32_MAX);
	while (done < n && !fatal_signal_pending(current)) {
		u32 part = MIN(n - done, sizeof(buf));

		random_bytes(buf, part);
		if (copy_to_user((u8 *)user + done, buf, part))
			return done ? (long)done : -EFAULT;
		done += part;
		cond_resched();
	}
	return done;
}

/* The only personality is Linux. */
long sys_personality(u32 persona)
{
	return persona && ~persona ? -EINVAL : 0;
}
