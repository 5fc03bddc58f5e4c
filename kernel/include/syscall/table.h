/* System calls by number, and how often each was asked for. */
#ifndef SYSCALL_TABLE_H
#define SYSCALL_TABLE_H

#include "types.h"

struct seq_file;

#define NR_SYSCALLS 451

typedef long (*syscall_fn)(u32, u32, u32, u32, u32, u32);

/* Every one can be run; those not implemented return -ENOSYS. */
struct syscall {
	syscall_fn run;
	const char *name;
};

extern const struct syscall syscalls[NR_SYSCALLS];
/* Calls of each, implemented or not: counted by the trap entry. */
extern u32 syscall_count[NR_SYSCALLS];

/* /proc/syscalls: number, calls and name of every call that was made; says which do not exist. */
void syscalls_show(struct seq_file *m);

#endif
