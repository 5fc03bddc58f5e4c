/* The resource limits of a process: setrlimit(2). The part of the kernel that gives out a resource compares
 * with the soft limit; syscall/limit.c reads and sets both. */
#ifndef SCHED_LIMITS_H
#define SCHED_LIMITS_H

#include "types.h"

enum {
	RLIMIT_CPU, /* seconds */
	RLIMIT_FSIZE,
	RLIMIT_DATA,
	RLIMIT_STACK,
	RLIMIT_CORE,
	RLIMIT_RSS,
	RLIMIT_NPROC,
	RLIMIT_NOFILE,
	RLIMIT_MEMLOCK,
	RLIMIT_AS,
	NR_RLIMITS = 16
};

#define RLIM_INFINITY UINT32_MAX

struct rlimit {
	u32 soft, hard;
};

#endif
