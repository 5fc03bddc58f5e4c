/*
 * altstack: alternative signal stacks, and the mask of processors. On Linux, too, this must report no
 * failures.
 */
#include "check.h"
#include "lab.h"
#include <setjmp.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define HELP "usage: altstack\n"

enum { SIZE = 16384, FORBIDDEN = 0xC0100000, SETAFFINITY = 241, GETAFFINITY = 242 };

static char stack[SIZE], other[SIZE];
static sigjmp_buf back;
static volatile bool on_stack;
static volatile int nested, seen_flags, change_error;
static stack_t in_context;

static bool is_on(const char *s, const void *p)
{
	return (const char *)p >= s && (const char *)p < s + SIZE;
}

static void look(int sig, siginfo_t *info, void *context)
{
	stack_t now = { 0 }, new = { .ss_sp = other, .ss_size = SIZE };

	(void)info;
	on_stack = is_on(stack, &now);
	in_context = ((ucontext_t *)context)->uc_stack;
	sigaltstack(NULL, &now);
	seen_flags = now.ss_flags;
	change_error = sigaltstack(&new, NULL) ? errno : 0;
	if (sig == SIGUSR1 && nested++ < 1)
		raise(SIGUSR1);
}

static void overflowed(int sig)
{
	char here = 0;

	(void)sig;
	on_stack = is_on(stack, &here);
	siglongjmp(back, 1);
}

static void set_action(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO | SA_NODEFER | flags };

	CHECK(!sigaction(sig, &action, NULL));
}

static void without_a_stack(void)
{
	stack_t now;

	CHECK(!sigaltstack(NULL, &now) && now.ss_flags == SS_DISABLE && !now.ss_size);
	set_action(SIGUSR2, look, SA_ONSTACK);
	raise(SIGUSR2);
	CHECK(!on_stack && seen_flags == SS_DISABLE && !change_error);
	CHECK(!sigaltstack(NULL, &now) && now.ss_sp == other); /* there was none to restore */
}

static void on_the_stack(void)
{
	stack_t new = { .ss_sp = stack, .ss_size = SIZE }, now;

	CHECK(!sigaltstack(&new, NULL));
	CHECK(!sigaltstack(NULL, &now) && now.ss_sp == stack && now.ss_size == SIZE &&
	      !now.ss_flags);
	set_action(SIGUSR1, look, SA_ONSTACK);
	raise(SIGUSR1);
	CHECK(on_stack && nested == 2 && seen_flags == SS_ONSTACK && change_error == EPERM);
	CHECK(in_context.ss_sp == stack && in_context.ss_size == SIZE && !in_context.ss_flags);
	set_action(SIGUSR2, look, 0);
	raise(SIGUSR2);
	CHECK(!on_stack && seen_flags == 0 && !change_error);
	CHECK(!sigaltstack(NULL, &now) && now.ss_sp == stack);
}

static void bad_arguments(void)
{
	stack_t small = { .ss_sp = other, .ss_size = 2047 },
		odd = { .ss_sp = other, .ss_flags = 4, .ss_size = SIZE };
	stack_t none = { .ss_flags = SS_DISABLE }, now;

	FAILS(syscall(SYS_sigaltstack, &small, NULL), ENOMEM);
	FAILS(syscall(SYS_sigaltstack, &odd, NULL), EINVAL);
	FAILS(syscall(SYS_sigaltstack, FORBIDDEN, NULL), EFAULT);
	FAILS(syscall(SYS_sigaltstack, NULL, FORBIDDEN), EFAULT);
	CHECK(!sigaltstack(NULL, &now) && now.ss_sp == stack);
	CHECK(!sigaltstack(&none, &now) && now.ss_sp == stack);
	CHECK(!sigaltstack(NULL, &now) && now.ss_flags == SS_DISABLE);
}

/* Never returns; the condition hides that. */
static int deeper(int n)
{
	volatile char room[4096] = { n };

	return n < 0 ? 0 : deeper(n + 1) + room[n % 4096];
}

/* The classic use: a handler for the overflow of the stack itself. */
static void overflow(void)
{
	stack_t new = { .ss_sp = stack, .ss_size = SIZE };
	struct sigaction action = { .sa_handler = overflowed, .sa_flags = SA_ONSTACK };

	CHECK(!sigaltstack(&new, NULL) && !sigaction(SIGSEGV, &action, NULL));
	for (int nr = 0; nr < 2; nr++) {
		on_stack = false;
		if (!sigsetjmp(back, 1))
			deeper(0);
		CHECK(on_stack);
	}
}

/* Uses up the stack but for 256 bytes, and then sends itself the signal again without a function call. */
static void fill_stack(int sig)
{
	int pid = getpid(), result;
	char here, *room = __builtin_alloca(&here - stack - 256);

	asm volatile("int $0x80"
		     : "=a"(result)
		     : "0"(SYS_kill), "b"(pid), "c"(sig), "S"(room)
		     : "memory");
}

/* A frame that does not fit below the last one kills. Children inherit the stack, new programs do not. */
static void children(char *self)
{
	struct sigaction action = { .sa_flags = SA_ONSTACK | SA_NODEFER };
	int status;
	stack_t now;

	if (!fork()) {
		set_action(SIGSEGV, look, SA_ONSTACK);
		_exit(sigaltstack(NULL, &now) || now.ss_sp != stack);
	}
	CHECK(wait(&status) > 0 && !status);
	if (!fork()) {
		action.sa_handler = fill_stack;
		CHECK(!sigaction(SIGUSR1, &action, NULL));
		raise(SIGUSR1);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	if (!fork()) {
		execl(self, self, "child", NULL);
		_exit(1);
	}
	CHECK(wait(&status) > 0 && !status);
}

static void processors(void)
{
	uint32_t mask[32] = { 0 }, none = 0;
	int n = syscall(GETAFFINITY, 0, sizeof(mask), mask);

	CHECK(n >= 4 && n % 4 == 0);
	CHECK(syscall(SETAFFINITY, 0, sizeof(mask), mask) == 0);
	FAILS(syscall(SETAFFINITY, 0, sizeof(none), &none), EINVAL);
	FAILS(syscall(GETAFFINITY, 0, 3, mask), EINVAL);
	FAILS(syscall(GETAFFINITY, 0, 128, FORBIDDEN), EFAULT);
	FAILS(syscall(GETAFFINITY, 999999, 128, mask), ESRCH);
	FAILS(syscall(SETAFFINITY, 999999, sizeof(mask), mask), ESRCH);
}

int main(int argc, char **argv)
{
	stack_t now;

	help_if_asked(argc, argv, HELP);
	if (argc == 2)
		return sigaltstack(NULL, &now) || now.ss_flags != SS_DISABLE;
	without_a_stack();
	on_the_stack();
	bad_arguments();
	overflow();
	children(argv[0]);
	processors();
	return check_report("altstack");
}
