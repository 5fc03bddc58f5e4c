/* System calls by number, and how often each was asked for. */
#ifndef SYSCALL_TABLE_H
#define SYSCALL_TABLE_H

#include "types.h"

struct seq_file;

typedef long (*syscall_fn)(u32, u32, u32, u32, u32, u32);

#define NR_SYSCALLS 451

/* Every entry can be called; those not implemented return -ENOSYS. */
extern long (*const syscall_table[NR_SYSCALLS])(u32, u32, u32, u32, u32, u32);
/* Calls of each, implemented or not: counted by the trap entry. */
extern u32 syscall_count[NR_SYSCALLS];

/* /proc/syscalls: number, calls and name of every call that was made; says which do not exist. */
void syscalls_show(struct seq_file *m);

#endif
