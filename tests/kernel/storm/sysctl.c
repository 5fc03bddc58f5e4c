/*
 * Parameters below /proc/sys/vm, which the storm writes, and the terminal: each round begins with the initial values.
 */
#include "storm.h"
#include <termios.h>

enum { MAX_VALUE = 32 };

/* Without the policy and the cap on frames, which belong to the run, and panic_on_oom, which stops the machine. */
static const char *const names[] = {
	"page-cluster",
	"dirty_background_ratio",
	"dirty_ratio",
	"dirty_expire_centisecs",
	"dirty_writeback_centisecs",
	"laptop_mode",
	"swappiness",
	"min_free_kbytes",
	"overcommit_memory",
	"overcommit_ratio",
	"max_map_count",
	"vfs_cache_pressure",
	"percpu_pagelist_fraction",
	"legacy_va_layout",
	"vdso_enabled",
	"swap_token_timeout",
	"drop_caches",
};
enum { NR_KEPT = ARRAY_SIZE(names) - 1 }; /* drop_caches has no value */
static char kept[NR_KEPT][MAX_VALUE];
static struct termios kept_terminal;

static const char *path_of(unsigned which)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/sys/vm/%s", names[which]);
	return path;
}

static long store(unsigned which, const char *value)
{
	long ret, fd = open(path_of(which), O_WRONLY);

	if (fd < 0)
		return -errno;
	ret = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

long sysctl_write(uint32_t which)
{
	static const char *const values[] = { "0",   "1",   "2",  "3", "5", "40",
					      "100", "300", "-1", "x", "" };

	return store(which % ARRAY_SIZE(names), values[draw(ARRAY_SIZE(values))]);
}

void sysctl_keep(void)
{
	for (unsigned n = 0; n < NR_KEPT; n++)
		if (read_file(path_of(n), kept[n], MAX_VALUE) < 0)
			die_errno(names[n]);
	tcgetattr(1, &kept_terminal);
}

void sysctl_restore(void)
{
	for (unsigned n = 0; n < NR_KEPT; n++)
		store(n, kept[n]);
	tcsetattr(1, TCSANOW, &kept_terminal);
}
