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

struct sysinfo {
	u32 uptime, loads[3];
	u32 totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	u16 procs, pad;
	u32 totalhigh, freehigh, mem_unit;
	u8 unused[8];
};

STATIC_ASSERT(sizeof(struct sysinfo) == 64);

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

long sys_prctl(u32 option, void *user)
{
	enum { PR_GET_DUMPABLE = 3, PR_SET_DUMPABLE = 4, PR_SET_NAME = 15, PR_GET_NAME = 16 };
	char name[TASK_COMM_LEN] = { 0 };

	switch (option) {
	case PR_GET_DUMPABLE: /* no process leaves a core dump */
		return 0;
	case PR_SET_DUMPABLE:
		return (u32)user > 1 ? -EINVAL : 0;
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
