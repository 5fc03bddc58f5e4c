/*
 * The table of system calls. What a call does is in the file named after its area; these are thin:
 * each checks its arguments and copies them in, changing nothing, and then calls the part of the
 * kernel that does the work. Numbers, structures and errors are those of Linux on i386.
 */
#include "syscall/table.h"
#include "errno.h"
#include "lib/seq_file.h"

u32 syscall_count[NR_SYSCALLS];

static long sys_none(void)
{
	return -ENOSYS;
}

/* Declared without their parameters: the table needs only where they are. */
#define CALL(nr, name) void sys_##name(void);
#define SAME(nr, name, as)
#define NONE(nr, name)
#include "list.h"
#undef CALL
#undef SAME
#undef NONE

#define CALL(nr, name) [nr] = (syscall_fn)sys_##name,
#define SAME(nr, name, as) [nr] = (syscall_fn)sys_##as,
#define NONE(nr, name) [nr] = (syscall_fn)(void (*)(void))sys_none,
long (*const syscall_table[NR_SYSCALLS])(u32, u32, u32, u32, u32, u32) = {
#include "list.h"
};
#undef CALL
#undef SAME
#undef NONE

/* The first character says whether it is implemented. */
#define CALL(nr, name) [nr] = "+" #name,
#define SAME(nr, name, as) [nr] = "+" #name,
#define NONE(nr, name) [nr] = "-" #name,
static const char *const names[NR_SYSCALLS] = {
#include "list.h"
};

void syscalls_show(struct seq_file *m)
{
	for (u32 nr = 0; nr < NR_SYSCALLS; nr++) {
		if (syscall_count[nr])
			seq_printf(m, "%3u %10u %s%s\n", nr, syscall_count[nr], names[nr] + 1,
				   names[nr][0] == '-' ? " (not implemented)" : "");
	}
}
