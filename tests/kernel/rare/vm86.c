/*
 * vm86: a program's iret must not set the flag VM, but QEMU lets it: the program is then in virtual-8086 mode.
 * Whatever it does there, it gets SIGSEGV, and its handler runs in 32-bit mode again. On Linux, too, this must
 * report no failures.
 */
#include "check.h"
#include "lab.h"
#include <sys/syscall.h>

#define HELP "usage: vm86\n"

enum { SEGMENT = 0x1000, CODE = SEGMENT * 16, FLAGS = 0x20002, IF = 0x200, IOPL3 = 0x3000 };

#define DATA_AT_SEGMENT "\xb8\x00\x10\x8e\xd8" /* mov $SEGMENT, %ax; mov %ax, %ds */

/* The 16-bit code at CODE; flags in addition to VM. */
static const struct {
	const char *code;
	size_t length;
	uint32_t flags;
} cases[] = {
	{ NULL, 0, IF }, /* nothing is mapped */
	{ NULL, 0, 0 },
	{ "\xeb\xfe", 2, IF }, /* endless, until a timer interrupt comes */
	{ "\xcc", 1, IF },
	{ "\xf4", 1, 0 },
	{ "\xcd\x80", 2, IF },
	{ "\x66\xb8\x14\0\0\0\xcd\x80\xf4", 9, IF | IOPL3 }, /* getpid */
	{ "\x66\xb8\x02\0\0\0\xcd\x80\xf4", 9, IF | IOPL3 }, /* fork */
	{ "\x66\xb8\x77\0\0\0\xcd\x80\xf4", 9, IF | IOPL3 }, /* sigreturn */
	{ "\x66\xb8\xad\0\0\0\xcd\x80\xf4", 9, IF | IOPL3 }, /* rt_sigreturn */
	{ DATA_AT_SEGMENT "\x0f\x34", 7, IF }, /* sysenter, while ds has a base */
	{ DATA_AT_SEGMENT "\x0f\x34", 7, 0 },
};

static __attribute__((noreturn)) void enter(uint32_t flags)
{
	__asm__ volatile("mov %%esp, %%eax; pushl $0; pushl $0; pushl $0; pushl $0; pushl $0; "
			 "pushl %%eax; pushl %0; pushl %1; pushl $0; iret"
			 :
			 : "r"(flags), "i"(SEGMENT)
			 : "eax");
	__builtin_unreachable();
}

static __attribute__((noreturn)) void run(size_t n)
{
	if (cases[n].length) {
		CHECK(mmap((void *)CODE, PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (void *)CODE);
		memcpy((void *)CODE, cases[n].code, cases[n].length);
	}
	enter(FLAGS | cases[n].flags);
}

/* exit(7) without the C library's gs, which is lost. */
static void on_fault(int sig)
{
	(void)sig;
	__asm__ volatile("int $0x80" : : "a"(SYS_exit), "b"(7));
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	for (size_t n = 0; n < 2 * ARRAY_SIZE(cases); n++) {
		int status = 0;
		bool handles = n % 2;
		pid_t pid = fork();

		if (!pid) {
			signal(SIGSEGV, handles ? on_fault : SIG_DFL);
			run(n / 2);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(handles ? WIFEXITED(status) && WEXITSTATUS(status) == 7
			      : WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	}
	return check_report("vm86");
}
