/*
 * /proc/sys/vm: the parameters of memory management under Linux's names, one file each. Written
 * values are handled like name=value on the command line or in /proc/params.
 */
#include "errno.h"
#include "fs/proc.h"
#include "fs/vfs.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "lib/string.h"
#include "mm/cache.h"
#include "mm/control.h"
#include "mm/policy_core.h"
#include "mm/slab.h"
#include "mm/vmstat.h"
#include "sched/current.h"

static void show(struct seq_file *m, const char *param)
{
	char value[160];

	if (param_get(param, value, sizeof(value)) >= 0)
		seq_printf(m, "%s\n", value);
}

/* A file's functions do not know which file it is, so each file has its own functions. */
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
SYSCTL(pagelist, "vm.percpu_pagelist_fraction")
SYSCTL(overcommit, "vm.overcommit_memory")
SYSCTL(ratio, "vm.overcommit_ratio")
SYSCTL(map_count, "vm.max_map_count")
SYSCTL(panic, "vm.panic_on_oom")
SYSCTL(dirty_background, "vm.dirty_background_ratio")
SYSCTL(dirty, "vm.dirty_ratio")
SYSCTL(dirty_expire, "vm.dirty_expire_centisecs")
SYSCTL(dirty_writeback, "vm.dirty_writeback_centisecs")
SYSCTL(laptop, "vm.laptop_mode")
SYSCTL(block_dump, "vm.block_dump")
SYSCTL(swappiness, "2q.swappiness") /* of a policy like Linux's; others have none */
SYSCTL(legacy_layout, "vm.legacy_va_layout")
SYSCTL(vdso, "vm.vdso_enabled")

static void pdflush_show(struct seq_file *m)
{
	seq_printf(m, "%u\n", writeback_nr_threads);
}

/* In seconds, the turn of the guard `token`, whose own parameter counts milliseconds. */
static void token_timeout_show(struct seq_file *m)
{
	char text[16];
	u64 turn_ms;

	if (param_get("token.turn_ms", text, sizeof(text)) >= 0 && !parse_u64(text, &turn_ms))
		seq_printf(m, "%u\n", (u32)turn_ms / 1000);
}

static int token_timeout_store(char *text)
{
	char turn_ms[16];
	u64 seconds;

	if (parse_u64(text, &seconds) || seconds > UINT32_MAX / 1000)
		return -EINVAL;
	snprintf(turn_ms, sizeof(turn_ms), "%u", (u32)seconds * 1000);
	return param_set("token.turn_ms", turn_ms, NULL, 0);
}

static int policy_store(char *text)
{
	return policy_switch(text);
}

/* 1: clean, unmapped pages of files; 2: unused names and inodes, empty slabs, unused kernel stacks;
 * 3: both. */
static int drop_caches_store(char *text)
{
	u32 what = text[0] - '0';

	if (what < 1 || what > 3 || text[1])
		return -EINVAL;
	if (what & 1)
		vfs_drop_pages();
	if (!(what & 2))
		return 0;
	vfs_drop_caches();
	slab_reap();
	kernel_stack_reap();
	return 0;
}

static const struct proc_file files[] = {
	{ "sys/vm/policy", policy_names, policy_store },
	{ "sys/vm/frames", frames_show, frames_store },
	{ "sys/vm/drop_caches", NULL, drop_caches_store },
	{ "sys/vm/page-cluster", page_cluster_show, page_cluster_store },
	{ "sys/vm/dirty_background_ratio", dirty_background_show, dirty_background_store },
	{ "sys/vm/dirty_ratio", dirty_show, dirty_store },
	{ "sys/vm/dirty_expire_centisecs", dirty_expire_show, dirty_expire_store },
	{ "sys/vm/dirty_writeback_centisecs", dirty_writeback_show, dirty_writeback_store },
	{ "sys/vm/laptop_mode", laptop_show, laptop_store },
	{ "sys/vm/block_dump", block_dump_show, block_dump_store },
	{ "sys/vm/swappiness", swappiness_show, swappiness_store },
	{ "sys/vm/swap_token_timeout", token_timeout_show, token_timeout_store },
	{ "sys/vm/nr_pdflush_threads", pdflush_show, NULL },
	{ "sys/vm/legacy_va_layout", legacy_layout_show, legacy_layout_store },
	{ "sys/vm/vdso_enabled", vdso_show, vdso_store },
	{ "sys/vm/min_free_kbytes", min_free_show, min_free_store },
	{ "sys/vm/lowmem_reserve_ratio", reserve_show, reserve_store },
	{ "sys/vm/percpu_pagelist_fraction", pagelist_show, pagelist_store },
	{ "sys/vm/overcommit_memory", overcommit_show, overcommit_store },
	{ "sys/vm/overcommit_ratio", ratio_show, ratio_store },
	{ "sys/vm/max_map_count", map_count_show, map_count_store },
	{ "sys/vm/panic_on_oom", panic_show, panic_store },
	{ 0 },
};

PROC_FILES(files);
