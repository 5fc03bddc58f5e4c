/*
 * The table of system calls. Each call is in the file named after its area. These functions are
 * thin: each checks its arguments and copies them in, without side effects, and then calls the part
 * of the kernel that does the work. Numbers, structures and errors are those of Linux on i386.
 *
 * Each name of a call is here a weak alias of sys_none. The file that implements the call overrides
 * the alias when the kernel is linked; in a kernel without that file, the call returns -ENOSYS.
 */
/* The aliases below have other parameters than sys_none, which reads none of them. */
#pragma GCC diagnostic ignored "-Wattribute-alias"

#include "syscall/table.h"
#include "calls.h"
#include "errno.h"
#include "fs/proc.h"
#include "lib/seq_file.h"

u32 syscall_count[NR_SYSCALLS];

static long sys_none(void)
{
	return -ENOSYS;
}

#define ALIAS __attribute__((weak, alias("sys_none")))
#define SYSCALL(nr, name, ...) ALIAS long sys_##name(__VA_ARGS__);
#define SYSCALL0(nr, name) ALIAS long sys_##name(void);
#define SAME(nr, name, other)
#define NONE(nr, name)
#include "list.h"
#undef SYSCALL
#undef SYSCALL0
#undef SAME
#undef NONE

/* calls.h explains why every function may be called with six words. */
#define ENTRY(nr, called, function)                                                                \
	[nr] = { .run = (syscall_fn)(void (*)(void))(function), .name = (called) },
#define SYSCALL(nr, name, ...) ENTRY(nr, #name, sys_##name)
#define SYSCALL0(nr, name) ENTRY(nr, #name, sys_##name)
#define SAME(nr, name, other) ENTRY(nr, #name, sys_##other)
#define NONE(nr, name) ENTRY(nr, #name, sys_none)

const struct syscall syscalls[NR_SYSCALLS] = {
#include "list.h"
};

/* Number, call count and name of every call made; marks unimplemented ones. */
static void show(struct seq_file *m)
{
	for (u32 nr = 0; nr < NR_SYSCALLS; nr++) {
		const struct syscall *call = &syscalls[nr];
		bool exists = call->run != (syscall_fn)(void (*)(void))sys_none;

		if (syscall_count[nr])
			seq_printf(m, "%3u %10u %s%s\n", nr, syscall_count[nr], call->name,
				   exists ? "" : " (not implemented)");
	}
}

static const struct proc_file files[] = { { "syscalls", show, NULL }, { 0 } };

PROC_FILES(files);
