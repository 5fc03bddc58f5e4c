/*
 * bounded: the resource limits that are enforced. Each is lowered in a child, since a lowered hard limit cannot be
 * raised again. On Linux, too, this must report no failures.
 */
#include "child.h"
#include "lab.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define HELP "usage: bounded\n"

enum { FORBIDDEN = 0xC0100000, PAGE = 4096, MIB = 1 << 20 };
enum { OLD_SETRLIMIT = 75, OLD_GETRLIMIT = 76, NEW_GETRLIMIT = 191, PRLIMIT = 340 };

static volatile int nr_signals;

static void count(int signal)
{
	(void)signal;
	nr_signals++;
}

/* Runs checks in a child, whose status says whether any failed. */
static void set(int resource, rlim_t soft)
{
	struct rlimit limit;

	CHECK(!getrlimit(resource, &limit));
	limit.rlim_cur = soft;
	CHECK(!setrlimit(resource, &limit));
	CHECK(!getrlimit(resource, &limit) && limit.rlim_cur == soft);
}

static void wrong_arguments(void)
{
	uint32_t small[2] = { 5, 4 };
	uint64_t wide[2] = { 5, 4 }, got[2];
	struct rlimit limit;

	FAILS(syscall(OLD_SETRLIMIT, RLIMIT_CPU, small), EINVAL);
	FAILS(syscall(OLD_SETRLIMIT, 16, small), EINVAL);
	FAILS(syscall(OLD_SETRLIMIT, RLIMIT_CPU, FORBIDDEN), EFAULT);
	FAILS(syscall(NEW_GETRLIMIT, 16, small), EINVAL);
	FAILS(syscall(OLD_GETRLIMIT, RLIMIT_CPU, FORBIDDEN), EFAULT);
	FAILS(syscall(PRLIMIT, 0, RLIMIT_CPU, wide, NULL), EINVAL);
	FAILS(syscall(PRLIMIT, 0, 16, NULL, got), EINVAL);
	FAILS(syscall(PRLIMIT, 0, RLIMIT_CPU, FORBIDDEN, NULL), EFAULT);
	FAILS(syscall(PRLIMIT, 0, RLIMIT_CPU, NULL, FORBIDDEN), EFAULT);
	FAILS(syscall(PRLIMIT, 0x7ffffff, RLIMIT_CPU, NULL, got), ESRCH);
	CHECK(!syscall(PRLIMIT, getpid(), RLIMIT_STACK, NULL, got) && got[0] <= got[1]);
	CHECK(!getrlimit(RLIMIT_CORE, &limit) && !setrlimit(RLIMIT_CORE, &limit));
}

static void few_descriptors(void)
{
	int fds[2], high = dup2(1, 30);
	struct pollfd p[21] = { 0 };

	set(RLIMIT_NOFILE, 20);
	CHECK(write(high, "", 0) == 0); /* what is open stays open */
	FAILS(dup2(1, 20), EBADF);
	FAILS(fcntl(1, F_DUPFD, 20), EINVAL);
	CHECK(dup2(1, 19) == 19);
	FAILS(fcntl(1, F_DUPFD, 19), EMFILE);
	while (dup(1) >= 0)
		;
	CHECK(errno == EMFILE);
	FAILS(open("/dev/null", O_RDONLY), EMFILE);
	close(5);
	FAILS(pipe(fds), EMFILE);
	CHECK(open("/dev/null", O_RDONLY) == 5);
	FAILS(poll(p, 21, 0), EINVAL);
	CHECK(poll(p, 20, 0) >= 0);
	set(RLIMIT_NOFILE, 0);
	FAILS(open("/dev/null", O_RDONLY), EMFILE);
}

static void small_files(void)
{
	static char data[3000];
	int fd = open("/tmp/bounded", O_RDWR | O_CREAT | O_TRUNC, 0600), append;

	signal(SIGXFSZ, count);
	set(RLIMIT_FSIZE, 5000);
	append = open("/tmp/bounded", O_WRONLY | O_APPEND);
	CHECK(write(fd, data, 3000) == 3000 && write(fd, data, 3000) == 2000 && !nr_signals);
	FAILS(write(fd, data, 1), EFBIG);
	CHECK(nr_signals == 1);
	FAILS(write(append, data, 1), EFBIG);
	FAILS(pwrite(fd, data, 1, 6000), EFBIG);
	CHECK(pwrite(fd, data, 3000, 1000) == 3000 && nr_signals == 3);
	FAILS(ftruncate(fd, 5001), EFBIG);
	CHECK(nr_signals == 4 && !ftruncate(fd, 5000) && !ftruncate(fd, 10));
	CHECK(write(append, data, 3000) == 3000 && nr_signals == 4);
	CHECK(write(open("/dev/null", O_WRONLY), data, 3000) == 3000);
	set(RLIMIT_FSIZE, RLIM_INFINITY);
	CHECK(pwrite(fd, data, 3000, 6000) == 3000);
	set(RLIMIT_FSIZE, 100);
	CHECK(!ftruncate(fd, 8000)); /* it shrinks */
	FAILS(pwrite(fd, data, 10, 200), EFBIG);
	CHECK(!unlink("/tmp/bounded"));
}

static void killed_by_size(void)
{
	int status, pid = fork(), fd;

	if (!pid) {
		fd = open("/tmp/bounded", O_RDWR | O_CREAT, 0600);
		set(RLIMIT_FSIZE, 0);
		write(fd, "x", 1);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGXFSZ);
	CHECK(!unlink("/tmp/bounded"));
}

static void little_memory(void)
{
	char *end = sbrk(0), *p;

	set(RLIMIT_DATA, 64 * 1024);
	CHECK(syscall(SYS_brk, end + MIB) < (long)(uintptr_t)(end + MIB));
	set(RLIMIT_DATA, RLIM_INFINITY);
	set(RLIMIT_AS, 32 * MIB);
	p = mmap(NULL, 4 * MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	FAILS(mmap(NULL, 32 * MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), ENOMEM);
	FAILS(mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0), ENOMEM);
	FAILS(mremap(p, 4 * MIB, 33 * MIB, MREMAP_MAYMOVE), ENOMEM);
	CHECK(!munmap(p, 4 * MIB));
}

static int deep(int n)
{
	volatile char room[PAGE];
	int below;

	room[n] =
		n; /* n is below PAGE; with a constant index a compiler would keep one byte of it */
	below = n ? deep(n - 1) : 0;
	return below + room[n]; /* read afterwards, so that a compiler makes no loop of this */
}

static void low_stack(void)
{
	int status, pid = fork();

	if (!pid) {
		nr_failures = 0;
		set(RLIMIT_STACK, MIB);
		deep(100);
		nr_failures ? _exit(1) : 0;
		deep(400);
		_exit(2);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGSEGV);
}

/* Computes. QEMU executes a no-op in no time of the host, and a jump in some: almost all instructions are no-ops. */
static void compute(void)
{
	__asm__ volatile(".rept 400\n\tnop\n\t.endr");
}

/* SIGXCPU after a second of computing, SIGKILL after another one. */
static void short_time(void)
{
	int status, pid = fork(), ends[2];
	struct rlimit limit = { 1, 2 };
	char c;

	CHECK(!pipe(ends));
	if (!pid) {
		signal(SIGXCPU, count);
		setrlimit(RLIMIT_CPU, &limit);
		while (!nr_signals)
			compute();
		getrlimit(RLIMIT_CPU, &limit);
		signal(SIGXCPU, SIG_DFL);
		raise(limit.rlim_cur == 2 && limit.rlim_max == 2 ? SIGKILL : SIGTERM);
	}
	close(ends[1]);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGKILL);
	CHECK(read(ends[0], &c, 1) == 0);
	close(ends[0]);
	pid = fork();
	if (!pid) {
		limit = (struct rlimit){ 1, 1 };
		setrlimit(RLIMIT_CPU, &limit);
		for (;;)
			compute();
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGKILL);
}

/* A child has its parent's limits, and so has the program that it becomes. */
static void inherited(void)
{
	struct rlimit limit;

	set(RLIMIT_NOFILE, 25);
	if (!fork())
		_exit(getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur != 25);
	CHECK(wait(&(int){ 0 }) > 0);
	FAILS(dup2(1, 25), EBADF);
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	wrong_arguments();
	in_child(few_descriptors);
	in_child(small_files);
	killed_by_size();
	in_child(little_memory);
	low_stack();
	in_child(inherited);
	short_time();
	return check_report("bounded");
}
