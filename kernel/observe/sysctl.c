/*
 * /proc/sys/vm: the parameters of memory management under Linux's names, a file each. What is written there
 * goes the same way as name=value on the command line or to /proc/params.
 */
#include "fs/proc.h"
#include "lib/param.h"
#include "lib/seq_file.h"
#include "mm/policy_core.h"
#include "mm/slab.h"
#include "mm/vmstat.h"
#include "proc/task.h"

static void show(struct seq_file *m, const char *param)
{
	char value[160];

	if (param_get(param, value, sizeof(value)) >= 0)
		seq_printf(m, "%s\n", value);
}

/* A file's functions are not told which file it is, so each has its own. */
#define SYSCTL(id, param)                                                                          \
	static void id##_show(struct seq_file *m)                                                  \
	{                                                                                          \
		show(m, param);                                                                    \
	}                                                                                          \
	static int id##_store(char *text)                                                          \
	{                                                                                          \
		return param_set(param, text, NULL, 0);                                            \
	}

SYSCTL(frames, "frames")
SYSCTL(page_cluster, "vm.page_cluster")
SYSCTL(min_free, "vm.min_free_kbytes")
SYSCTL(reserve, "vm.lowmem_reserve_ratio")
SYSCTL(overcommit, "vm.overcommit_memory")
SYSCTL(ratio, "vm.overcommit_ratio")
SYSCTL(map_count, "vm.max_map_count")
SYSCTL(panic, "vm.panic_on_oom")

static int policy_store(char *text)
{
	return policy_switch(text);
}

/* Any value gives empty slabs and unused kernel stacks back. */
static int drop_caches_store(char *text)
{
	(void)text;
	slab_reap();
	kernel_stack_reap();
	return 0;
}

static const struct proc_file files[] = {
	{ "sys/vm/policy", policy_names, policy_store },
	{ "sys/vm/frames", frames_show, frames_store },
	{ "sys/vm/drop_caches", NULL, drop_caches_store },
	{ "sys/vm/page-cluster", page_cluster_show, page_cluster_store },
	{ "sys/vm/min_free_kbytes", min_free_show, min_free_store },
	{ "sys/vm/lowmem_reserve_ratio", reserve_show, reserve_store },
	{ "sys/vm/overcommit_memory", overcommit_show, overcommit_store },
	{ "sys/vm/overcommit_ratio", ratio_show, ratio_store },
	{ "sys/vm/max_map_count", map_count_show, map_count_store },
	{ "sys/vm/panic_on_oom", panic_show, panic_store },
	{ 0 },
};

void sysctl_init(void)
{
	proc_register(files);
}
