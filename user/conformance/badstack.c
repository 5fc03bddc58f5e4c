/*
 * badstack: programs that access invalid memory. Each must die of SIGSEGV, and only that one.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: badstack [recurse|null|text|kernel|jump]...\n"                                     \
	"In a child each (default: all of them):\n"                                                \
	"  recurse  recurse without end\n"                                                         \
	"  null     read page 0\n"                                                                 \
	"  text     write to the program's own code\n"                                             \
	"  kernel   read the kernel's memory\n"                                                    \
	"  jump     jump to address 0\n"                                                           \
	"Exit status 1 when one of them was not killed by signal 11.\n"

/* Hides the address from the compiler, which would otherwise warn, or optimise the access away. */
static void *hide(uintptr_t address)
{
	__asm__("" : "+r"(address));
	return (void *)address;
}

__attribute__((noinline)) static int recurse(volatile char *caller)
{
	volatile char frame[2000];

	frame[0] = caller ? caller[0] + 1 : 0;
	return hide(1) ? recurse(frame) + frame[0] : 0;
}

static void mode_recurse(void)
{
	recurse(NULL);
}

static void mode_null(void)
{
	(void)*(volatile int *)hide(0);
}

static void mode_text(void)
{
	*(volatile int *)hide((uintptr_t)mode_null) = 0;
}

static void mode_kernel(void)
{
	(void)*(volatile int *)hide(0xC0000000);
}

static void mode_jump(void)
{
	((void (*)(void))hide(0))();
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "recurse", mode_recurse }, { "null", mode_null }, { "text", mode_text },
	{ "kernel", mode_kernel },   { "jump", mode_jump },
};

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], name))
			return true;
	}
	return argc == 1;
}

/* Returns true if the child died as expected. */
static bool try_mode(size_t mode)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die_errno("fork");
	if (!pid) {
		modes[mode].run();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("R badstack mode=%s signal=%d\n", modes[mode].name,
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

int main(int argc, char **argv)
{
	int nr_tried = 0, nr_right = 0;

	help_if_asked(argc, argv, HELP);
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!is_wanted(modes[i].name, argc, argv))
			continue;
		nr_tried++;
		nr_right += try_mode(i);
	}
	if (nr_tried < argc - 1)
		usage_error(HELP);
	return nr_right != nr_tried;
}
