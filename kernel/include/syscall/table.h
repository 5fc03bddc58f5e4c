/* System calls by number, and the number of calls of each. */
#ifndef SYSCALL_TABLE_H
#define SYSCALL_TABLE_H

#include "types.h"

#define NR_SYSCALLS 451

typedef long (*syscall_fn)(u32, u32, u32, u32, u32, u32);

/* Every entry is callable. Unimplemented calls return -ENOSYS. */
struct syscall {
	syscall_fn run;
	const char *name;
};

extern const struct syscall syscalls[NR_SYSCALLS];
/* Number of calls of each, implemented or not; counted by the trap entry. */
extern u32 syscall_count[NR_SYSCALLS];

#endif
