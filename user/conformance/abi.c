/*
 * abi: does the kernel behave like Linux? Short checks of signals, processes, descriptors, names
 * and clocks, mostly of rare operations: at the limits, after errors, against the rules.
 *
 * Linux is the oracle: the same program must report no failures there. A failed check is named by
 * its line and text, and the program continues.
 */
#include "check.h"
#include "lab.h"
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <ucontext.h>

#define HELP                                                                                       \
	"usage: abi [long]\n"                                                                      \
	"Compare system calls with what Linux answers. checks= made, failures= answers that\n"     \
	"differ; exit status 1 if there are any. long: only the one that takes 3 s.\n"

enum { MS = 1000, KIB = 1024, MIB = 1024 * KIB, NR_RINGING = 12 };

static volatile sig_atomic_t caught, nr_caught;
static char *own_path;

static void catch (int sig)
{
	caught = sig;
	nr_caught++;
}

static void set_handler(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &action, NULL);
}

static void ring_after_ms(int first, int period)
{
	struct itimerval timer = { { 0, period * MS }, { 0, first * MS } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Runs @body in a child. Returns its wait status. */
static int child_status(void (*body)(void))
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		body();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* Signals */

static void test_masks(void)
{
	sigset_t set, old, pending, none;

	set_handler(SIGUSR1, catch, 0);
	caught = 0;
	raise(SIGUSR1);
	CHECK(caught == SIGUSR1);
	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	caught = 0;
	raise(SIGUSR1);
	CHECK(!caught);
	sigpending(&pending);
	CHECK(sigismember(&pending, SIGUSR1));
	FAILS(sigsuspend(&none), EINTR);
	CHECK(caught == SIGUSR1);
	sigprocmask(SIG_SETMASK, &old, &set);
	CHECK(sigismember(&set, SIGUSR1));
	FAILS(syscall(SYS_rt_sigaction, SIGKILL, &set, NULL, 8), EINVAL);
	FAILS(syscall(SYS_rt_sigaction, 65, NULL, NULL, 8), EINVAL);
}

static void test_interruption(void)
{
	struct timespec second = { 1, 0 }, left = { 0, 0 };
	int ends[2];
	pid_t pid;
	char c;

	CHECK(!pipe(ends));
	set_handler(SIGALRM, catch, 0);
	caught = 0;
	ring_after_ms(5, 0);
	FAILS(read(ends[0], &c, 1), EINTR);
	CHECK(caught == SIGALRM);
	ring_after_ms(5, 0);
	FAILS(nanosleep(&second, &left), EINTR);
	CHECK(!left.tv_sec && left.tv_nsec > 500 * MS * MS);
	set_handler(SIGALRM, catch, SA_RESTART);
	caught = 0;
	ring_after_ms(5, 0);
	pid = fork();
	if (!pid) {
		usleep(20 * MS);
		_exit(write(ends[1], "x", 1) != 1);
	}
	CHECK(read(ends[0], &c, 1) == 1 && c == 'x' && caught == SIGALRM);
	CHECK(waitpid(pid, NULL, 0) == pid);
	close(ends[0]);
	set_handler(SIGPIPE, SIG_IGN, 0);
	FAILS(write(ends[1], "x", 1), EPIPE);
	close(ends[1]);
}

static char other_stack[64 * KIB];

static void move_stack(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	caught = info->si_signo == sig;
	uc->uc_mcontext.gregs[REG_ESP] = (greg_t)(other_stack + sizeof(other_stack) / 2);
}

/* A handler may change the registers with which the program continues. */
static void test_handler_moves_stack(void)
{
	struct sigaction action = { .sa_sigaction = move_stack, .sa_flags = SA_SIGINFO };
	uintptr_t sp;

	sigaction(SIGUSR2, &action, NULL);
	__asm__ volatile("mov %%esp, %%esi\n\tint $0x80\n\tmov %%esp, %%edi\n\tmov %%esi, %%esp"
			 : "=D"(sp)
			 : "a"(SYS_kill), "b"(getpid()), "c"(SIGUSR2)
			 : "esi", "memory");
	CHECK(sp == (uintptr_t)other_stack + sizeof(other_stack) / 2);
}

static void die_null(void)
{
	*(volatile int *)NULL = 1;
}

static void die_ud2(void)
{
	__asm__ volatile("ud2");
}

static void die_divide(void)
{
	__asm__ volatile("xor %%ecx, %%ecx\n\tidiv %%ecx" ::: "eax", "ecx", "edx", "cc");
}

static void die_sigreturn(void)
{
	__asm__ volatile("mov $0x1000, %esp\n\tmov $173, %eax\n\tint $0x80");
}

/* A nested-task flag makes iret a task switch. */
static void die_nested_task(void)
{
	__asm__ volatile("pushf\n\torl $0x4000, (%esp)\n\tpopf\n\tiret");
}

static void die_task_gate(void)
{
	__asm__ volatile("int $8");
}

/* The signal kills the process, because its stack has no room for the handler's frame. */
static void die_without_stack(void)
{
	set_handler(SIGALRM, catch, 0);
	ring_after_ms(5, 0);
	__asm__ volatile("mov $4, %esp\n1:\tjmp 1b");
}

static void test_deaths(void)
{
	CHECK(WTERMSIG(child_status(die_null)) == SIGSEGV);
	CHECK(WTERMSIG(child_status(die_ud2)) == SIGILL);
	CHECK(WTERMSIG(child_status(die_divide)) == SIGFPE);
	CHECK(WTERMSIG(child_status(die_sigreturn)) == SIGSEGV);
	CHECK(WTERMSIG(child_status(die_nested_task)) == SIGSEGV);
	CHECK(WTERMSIG(child_status(die_task_gate)) == SIGSEGV);
	CHECK(WTERMSIG(child_status(die_without_stack)) == SIGSEGV);
	CHECK(WTERMSIG(child_status(abort)) == SIGABRT);
}

/* Clocks */

static void test_sleeps(void)
{
	struct timespec bad = { 0, 1000000000 }, negative = { -1, 0 };
	struct timespec longest = { 0x7fffffff, 999999999 }, start, end;
	long long far[2] = { 0x7fffffffffffffff, 999999999 };

	FAILS(nanosleep(&bad, NULL), EINVAL);
	FAILS(nanosleep(&negative, NULL), EINVAL);
	set_handler(SIGALRM, catch, 0);
	ring_after_ms(5, 0);
	FAILS(nanosleep(&longest, NULL), EINTR);
	ring_after_ms(5, 0);
	FAILS(syscall(SYS_clock_nanosleep_time64, CLOCK_MONOTONIC, TIMER_ABSTIME, far, NULL),
	      EINTR);
	clock_gettime(CLOCK_MONOTONIC, &start);
	end = start;
	end.tv_sec++;
	CHECK(!clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &start, NULL));
	FAILS(clock_gettime(77, &end), EINVAL);
}

static void test_interval(void)
{
	struct itimerval none = { { 5, 0 }, { 0, 0 } }, negative = { { 0, 0 }, { -1, 0 } };

	set_handler(SIGALRM, catch, 0);
	nr_caught = 0;
	ring_after_ms(2, 2);
	while (nr_caught < 5)
		pause();
	CHECK(!setitimer(ITIMER_REAL, &none, &negative) && negative.it_interval.tv_usec == 2 * MS);
	CHECK(!getitimer(ITIMER_REAL, &none) && !none.it_interval.tv_sec);
	negative.it_value.tv_sec = -1;
	FAILS(setitimer(ITIMER_REAL, &negative, NULL), EINVAL);
}

/* Even if alarms expire faster than a process can handle them, other processes must get the CPU. */
static void test_shortest_interval(void)
{
	struct itimerval shortest = { { 0, 1 }, { 0, 1 } };
	pid_t pids[NR_RINGING];

	for (int i = 0; i < NR_RINGING; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		set_handler(SIGALRM, catch, 0);
		setitimer(ITIMER_REAL, &shortest, NULL);
		for (;;)
			pause();
	}
	usleep(50 * MS);
	for (int i = 0; i < NR_RINGING; i++) {
		int status = 0;

		kill(pids[i], SIGKILL);
		CHECK(waitpid(pids[i], &status, 0) == pids[i] && WTERMSIG(status) == SIGKILL);
	}
}

/* Processes */

static int exec_status(char **argv)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execv(own_path, argv);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void test_exec(void)
{
	char *big = malloc(200 * KIB), *status_42[] = { "abi", "--exit", "42", NULL, NULL };
	char *no_args[] = { NULL }, *fits[] = { "abi", "--exit", "7", big, NULL };
	int fd = open("/tmp/abi-garbage", O_CREAT | O_WRONLY | O_TRUNC, 0755);

	CHECK(exec_status(status_42) == 42);
	memset(big, 'a', 200 * KIB);
	big[60 * KIB] = '\0';
	CHECK(exec_status(fits) == 7);
	big[60 * KIB] = 'a';
	big[200 * KIB - 1] = '\0';
	FAILS(execv(own_path, fits), E2BIG);
	FAILS(execv("/tmp", no_args), EACCES);
	FAILS(execv("/tmp/abi-none", no_args), ENOENT);
	FAILS(syscall(SYS_execve, 8, no_args, no_args), EFAULT);
	CHECK(write(fd, "\177ELFgarbage", 11) == 11);
	close(fd);
	FAILS(execv("/tmp/abi-garbage", no_args), ENOEXEC);
	CHECK(!unlink("/tmp/abi-garbage"));
	free(big);
}

static void lead_session(void)
{
	_exit(setsid() != getpid() || getsid(0) != getpid() || setsid() != -1);
}

static void test_groups(void)
{
	pid_t group = 0, pid;
	int status;

	CHECK(!child_status(lead_session));
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (!pid)
			for (;;)
				pause();
		setpgid(pid, group);
		group = group ? group : pid;
	}
	CHECK(!kill(-group, SIGKILL));
	for (int i = 0; i < 3; i++)
		CHECK(waitpid(-group, &status, 0) > 0 && WTERMSIG(status) == SIGKILL);
	FAILS(waitpid(-1, &status, 0), ECHILD);
	FAILS(waitpid(-1, &status, 0x1000), EINVAL);
	FAILS(kill(getpid(), 99), EINVAL);
	FAILS(setpgid(0, -1), EINVAL);
	signal(SIGCHLD, SIG_IGN);
	if (!fork())
		_exit(0);
	FAILS(waitpid(-1, &status, 0), ECHILD);
	signal(SIGCHLD, SIG_DFL);
}

static void test_name(void)
{
	char name[16];

	CHECK(!prctl(PR_SET_NAME, "a-name-that-is-far-too-long"));
	CHECK(!prctl(PR_GET_NAME, name) && !strcmp(name, "a-name-that-is-"));
	FAILS(prctl(PR_SET_NAME, 8), EFAULT);
}

/* Descriptors, files and names */

static void test_descriptors(void)
{
	struct pollfd closed = { .fd = 63, .events = POLLIN };
	char bytes[4096] = "";
	int ends[2], n = 0;

	FAILS(read(63, bytes, 1), EBADF);
	FAILS(dup2(63, 5), EBADF);
	FAILS(dup2(1, -1), EBADF);
	FAILS(dup3(1, 1, 0), EINVAL);
	CHECK(poll(&closed, 1, -1) == 1 && closed.revents == POLLNVAL);
	FAILS(syscall(SYS_pipe, 4), EFAULT);
	CHECK(!pipe2(ends, O_NONBLOCK));
	FAILS(write(ends[1], (void *)1, 5), EFAULT);
	CHECK(write(ends[1], "abc", 3) == 3);
	FAILS(read(ends[0], (void *)1, 3), EFAULT);
	CHECK(read(ends[0], bytes, 9) == 3);
	FAILS(lseek(ends[0], 0, SEEK_SET), ESPIPE);
	while (write(ends[1], bytes, sizeof(bytes)) == sizeof(bytes))
		n++;
	CHECK(n == 16 && errno == EAGAIN);
	CHECK(read(ends[0], bytes, 1) == 1);
	FAILS(write(ends[1], bytes, sizeof(bytes)), EAGAIN); /* all or nothing */
	close(ends[0]);
	close(ends[1]);
}

static void test_files(void)
{
	struct iovec parts[] = { { other_stack, 1 }, { (void *)1, 5 } };
	int fd = open("/tmp/abi-file", O_CREAT | O_RDWR | O_TRUNC, 0600);
	char c = 'x', *map;

	CHECK(pwrite(fd, "0123456789", 10, 0) == 10);
	CHECK(readv(fd, parts, 2) == 1);
	FAILS(readv(fd, parts, 1025), EINVAL);
	FAILS(lseek(fd, -1, SEEK_SET), EINVAL);
	FAILS(pread(fd, &c, 1, -1), EINVAL);
	FAILS(ftruncate(fd, -1), EINVAL);
	map = mmap(NULL, PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED);
	map[1] = 'Z';
	CHECK(pread(fd, &c, 1, 1) == 1 && c == 'Z');
	CHECK(!ftruncate(fd, 0) && !ftruncate(fd, 10));
	CHECK(pread(fd, &c, 1, 1) == 1 && c == '\0');
	munmap(map, PAGE_SIZE_BYTES);
	FAILS(openat(fd, "x", O_RDONLY), ENOTDIR);
	CHECK(!unlink("/tmp/abi-file") && read(fd, &c, 1) == 1);
	close(fd);
}

static void test_names(void)
{
	char too_long[300];

	memset(too_long, 'a', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	FAILS(open(too_long, O_CREAT | O_RDWR, 0600), ENAMETOOLONG);
	FAILS(open("", O_RDONLY), ENOENT);
	CHECK(!mkdir("/tmp/abi-dir/", 0755) && !mkdir("/tmp/abi-dir/in", 0755));
	FAILS(rename("/tmp/abi-dir", "/tmp/abi-dir/in/x"), EINVAL);
	FAILS(rmdir("/tmp/abi-dir"), ENOTEMPTY);
	FAILS(rmdir("/tmp/abi-dir/."), EINVAL);
	FAILS(open("/tmp/abi-dir/f/", O_CREAT | O_RDWR, 0600), EISDIR);
	CHECK(!chdir("/tmp/abi-dir/in") && !rmdir("/tmp/abi-dir/in"));
	FAILS(open("x", O_CREAT | O_RDWR, 0600), ENOENT);
	/* Linux still finds the parent, a directory; here the removed directory has no parent any
	 * more. */
	CHECK(open("..", O_CREAT | O_RDWR, 0600) == -1 && (errno == EISDIR || errno == ENOENT));
	CHECK(!chdir("/tmp") && !rmdir("abi-dir"));
}

/* One call that takes seconds is not a hang, and a signal ends it. */
static void test_long_call(void)
{
	static char to[MIB];
	struct iovec parts[1024];
	int fd = open("/dev/urandom", O_RDONLY);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		parts[i] = (struct iovec){ to, sizeof(to) };
	set_handler(SIGALRM, catch, 0);
	alarm(3);
	CHECK(readv(fd, parts, ARRAY_SIZE(parts)) > 0);
	alarm(0);
	close(fd);
}

int main(int argc, char **argv)
{
	static void (*const tests[])(void) = {
		test_masks,  test_interruption, test_handler_moves_stack, test_deaths,
		test_sleeps, test_interval,     test_shortest_interval,   test_exec,
		test_groups, test_name,         test_descriptors,         test_files,
		test_names,
	};

	help_if_asked(argc, argv, HELP);
	if (argc > 2 && !strcmp(argv[1], "--exit"))
		return atoi(argv[2]);
	own_path = realpath("/proc/self/exe", NULL);
	if (argc == 2 && !strcmp(argv[1], "long"))
		test_long_call();
	else
		for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
			tests[i]();
	return check_report("abi");
}
