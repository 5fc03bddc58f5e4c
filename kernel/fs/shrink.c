/*
 * Evicts names and inodes of devices when memory is short. Each pass of reclaim scans a part of the
 * unused ones that doubles as memory pressure grows, as Linux's shrinkers do. vfs_cache_pressure
 * scales that part in percent: 0 keeps them all, 200 evicts them twice as readily as pages.
 */
#include "procfs.h"

#include "internal.h"

#include "lib/param.h"
#include "mm/shrinkers.h"

static u32 pressure = 100;

PARAM_U32("vm.vfs_cache_pressure", pressure, 0, 1000, "%",
	  "how readily names and inodes of devices are evicted, compared with pages");

static u32 vfs_shrink(int priority)
{
	u32 names = dcache_nr_cached(), inodes = icache_nr_unused(), gone;

	if (likely(!names && !inodes))
		return 0;
	gone = dcache_shrink((u32)((u64)names * pressure / 100 >> priority));
	return gone + icache_shrink((u32)((u64)inodes * pressure / 100 >> priority));
}

SHRINKER(vfs_shrink);

void vfs_drop_caches(void)
{
	u32 gone;

	do { /* a name gets a second chance, so one scan may find nothing */
		gone = dcache_shrink(dcache_nr_cached());
		gone += dcache_shrink(dcache_nr_cached());
		gone += icache_shrink(icache_nr_unused());
	} while (gone);
}

static void pressure_show(struct seq_file *m)
{
	seq_printf(m, "%u\n", pressure);
}

static int pressure_store(char *text)
{
	return param_set("vm.vfs_cache_pressure", text, NULL, 0);
}

static const struct proc_file files[] = {
	{ "sys/vm/vfs_cache_pressure", pressure_show, pressure_store },
	{ NULL, NULL, NULL },
};

PROC_FILES(files);
