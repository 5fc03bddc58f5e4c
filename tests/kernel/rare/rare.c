/*
 * rare: system calls that no other program here makes. As with abi, Linux is the reference: run there, this must
 * report no failures, either. Where kernels may answer in several ways, this checks what the answers have in
 * common.
 */
#include "check.h"
#include "lab.h"
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define HELP "usage: rare\n"
#define PAGE PAGE_SIZE_BYTES
#define READ_PAGES 64

static volatile double caught_sum;
static volatile int nr_caught;

static char *map(int nr)
{
	return mmap(NULL, nr * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void test_mremap(void)
{
	char *at = map(6);

	munmap(at + 4 * PAGE, 2 * PAGE);
	memset(at, 'a', 4 * PAGE);
	CHECK(mremap(at, 4 * PAGE, 2 * PAGE, 0) == at);
	CHECK(mremap(at, 2 * PAGE, 2 * PAGE, 0) == at);
	FAILS(madvise(at + 2 * PAGE, PAGE, MADV_NORMAL), ENOMEM);
	CHECK(mremap(at, 2 * PAGE, 4 * PAGE, 0) == at && at[PAGE] == 'a' && !at[2 * PAGE]);
	at[4 * PAGE - 1] = 'b';
	CHECK(!munmap(at + PAGE, PAGE));
	FAILS(mremap(at, PAGE, 3 * PAGE, 0), ENOMEM);
	FAILS(mremap(at + PAGE, PAGE, 2 * PAGE, 0), EFAULT);
	FAILS(mremap(at, PAGE, 0, 0), EINVAL);
	FAILS(mremap(at, PAGE, PAGE, 64), EINVAL);
	FAILS(mremap(at + 1, PAGE, PAGE, 0), EINVAL);
	FAILS(mremap(at, PAGE, 0xD0000000u, 0), ENOMEM);
	CHECK(at[4 * PAGE - 1] == 'b' && !munmap(at, 4 * PAGE));
}

static long minor_faults(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_minflt;
}

/* The end of the data moves both ways; for an impossible end, the call returns the current one. */
static void test_brk(void)
{
	char *end = (char *)syscall(SYS_brk, 0), *to = end + 3 * PAGE;
	long faults;

	CHECK((char *)syscall(SYS_brk, to) == to);
	end[0] = to[-1] = 'x';
	CHECK((char *)syscall(SYS_brk, end + 10) == end + 10 && end[0] == 'x');
	CHECK((char *)syscall(SYS_brk, to) == to && !to[-1]);
	CHECK((char *)syscall(SYS_brk, 0xFFFFF000u) == to);
	CHECK((char *)syscall(SYS_brk, 4096) == to);
	CHECK(!mlockall(MCL_FUTURE));
	CHECK((char *)syscall(SYS_brk, to + PAGE) == to + PAGE);
	faults = minor_faults();
	to[0] = 'y'; /* it is resident already */
	CHECK(minor_faults() == faults && !munlockall());
	CHECK((char *)syscall(SYS_brk, end) == end);
}

/* Locking all takes time in proportion to pages, not addresses: 3 GiB of addresses would take tens of ms. */
static void test_lock_all(void)
{
	char *none = mmap(NULL, 1 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t begin = lab_now_ns();

	CHECK(none != MAP_FAILED && !mlockall(MCL_CURRENT));
	CHECK(lab_now_ns() - begin < 10000000);
	CHECK(!munlockall() && !munmap(none, 1 << 30));
}

static void catch (int sig)
{
	(void)sig;
	for (int i = 0; i < 10; i++)
		caught_sum = caught_sum * 0.5 + i;
	nr_caught++;
}

/* Floating-point registers survive a signal, a fork and other processes. */
static void test_floats(void)
{
	volatile double third = 1.0 / 3;
	double x = third * 3, y = third;
	int status;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 100; i++, sched_yield())
			y = y * 2 - third;
		_exit(y == third ? 7 : 8);
	}
	for (int i = 0; i < 100; i++, sched_yield())
		x = x + third - third;
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
	signal(SIGUSR1, catch);
	y = third * 1.5;
	kill(getpid(), SIGUSR1);
	CHECK(nr_caught == 1 && y == third * 1.5 && x > 0.99 && x < 1.01 && caught_sum > 15);
}

static void test_signals(void)
{
	nr_caught = 0;
	signal(SIGALRM, catch);
	CHECK(alarm(3) == 0 && syscall(SYS_alarm, 1) == 3 && syscall(SYS_alarm, 0) == 1);
	CHECK(syscall(SYS_alarm, 0) == 0);
	FAILS(syscall(SYS_tgkill, 0, getpid(), 0), EINVAL);
	FAILS(syscall(SYS_tgkill, getppid(), getpid(), 0), ESRCH);
	CHECK(!syscall(SYS_tgkill, getpid(), getpid(), SIGALRM) && nr_caught == 1);
	FAILS(syscall(SYS_tkill, -1, 0), EINVAL);
	FAILS(syscall(SYS_tkill, 99999, 0), ESRCH);
	FAILS(syscall(SYS_rt_sigsuspend, &nr_caught, 3), EINVAL);
	FAILS(kill(99999, 0), ESRCH);
	syscall(SYS_setitimer, ITIMER_REAL, &(struct { long sec[4]; }){ { 0, 0, 0, 2000 } }, NULL);
	FAILS(syscall(SYS_sigsuspend, 0, 0, 0), EINTR);
	CHECK(nr_caught == 2);
}

static void test_poll(void)
{
	struct pollfd ends[2] = { { .events = POLLIN }, { .events = POLLIN | POLLOUT } };
	int ends_of[2], fifo = -1;

	CHECK(poll(NULL, 0, 5) == 0);
	CHECK(!pipe(ends_of) && (ends[0].fd = ends_of[0]) >= 0);
	CHECK(poll(ends, 1, 5) == 0);
	unlink("/tmp/fifo");
	CHECK(!mkfifo("/tmp/fifo", 0600) && (fifo = open("/tmp/fifo", O_RDWR)) >= 0);
	ends[1].fd = fifo;
	CHECK(poll(ends, 2, 5) == 1 && ends[1].revents == POLLOUT);
	CHECK(write(fifo, "x", 1) == 1 && write(ends_of[1], "y", 1) == 1);
	CHECK(poll(ends, 2, -1) == 2 && ends[1].revents == (POLLIN | POLLOUT));
	CHECK(!close(fifo) && !close(ends_of[0]) && !close(ends_of[1]) && !unlink("/tmp/fifo"));
}

static void test_files(void)
{
	struct iovec parts[20];
	char one[20], two[20];
	int fd = open("/tmp/rare", O_RDWR | O_CREAT | O_TRUNC, 0600), dir = open("/tmp", O_RDONLY);

	for (int i = 0; i < 20; i++)
		one[i] = 'a' + i, parts[i] = (struct iovec){ one + i, 1 };
	CHECK(writev(fd, parts, 20) == 20 && pread(fd, two, 20, 0) == 20 && !memcmp(one, two, 20));
	parts[3].iov_len = 0xC0000000u;
	CHECK(writev(fd, parts, 20) == -1 && (errno == EFAULT || errno == EINVAL));
	FAILS(writev(fd, parts, 1025), EINVAL);
	FAILS(lseek(fd, 0, 9), EINVAL);
	FAILS(lseek(fd, -1, SEEK_SET), EINVAL);
	CHECK(!fchdir(dir) && !access("rare", F_OK));
	FAILS(fchdir(fd), ENOTDIR);
	FAILS(fchdir(-1), EBADF);
	CHECK(!chdir("/") && !close(fd) && !close(dir));
}

/* Reads and writes with buffers that are not mapped; with much memory the file's page lies in high
 * memory. */
static void test_nowhere(void)
{
	int fd = open("/tmp/nowhere", O_RDWR | O_CREAT | O_TRUNC, 0700);
	char *nowhere = map(1), *const no_words[] = { NULL };

	CHECK(!munmap(nowhere, PAGE) && pwrite(fd, "text", 4, PAGE) == 4);
	FAILS(pread(fd, nowhere, 4, PAGE), EFAULT);
	FAILS(pwrite(fd, nowhere, 4, PAGE), EFAULT);
	CHECK(!ftruncate(fd, 0) && !ftruncate(fd, 2 * PAGE) && !close(fd));
	FAILS(execve("/tmp/nowhere", no_words, no_words), ENOEXEC); /* a hole */
	CHECK(!unlink("/tmp/nowhere"));
}

static char *reserve(size_t size)
{
	return mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Uses up all addresses, large regions first; finally a hole above them that was too small is found. */
static void test_addresses(void)
{
	enum { PARTS = 128 };
	char *hole = map(1), *below = map(1), *at, *parts[PARTS];
	size_t sizes[PARTS], size = 0x40000000;
	bool found = false;
	int nr = 0;

	CHECK(!munmap(hole, PAGE) && (at = map(2)) != MAP_FAILED);
	while (size >= PAGE && nr < PARTS) {
		parts[nr] = reserve(size);
		found |= parts[nr] == hole;
		if (parts[nr] == MAP_FAILED)
			size /= 2;
		else
			sizes[nr++] = size;
	}
	CHECK(nr < PARTS && found);
	while (nr--)
		munmap(parts[nr], sizes[nr]);
	CHECK(!munmap(at, 2 * PAGE) && !munmap(below, PAGE));
}

/* Locks with the 32-bit structure of old programs, by fcntl's old call number, which the C library no longer
 * uses. */
static void test_old_locks(void)
{
	enum { GETLK = 5, SETLK };
	struct {
		short type, whence;
		int start, len, pid;
	} lock = { F_WRLCK, SEEK_CUR, -10, 30, 0 };
	int fd = open("/tmp/rare", O_RDWR), status;

	CHECK(lseek(fd, 20, SEEK_SET) == 20 && !syscall(SYS_fcntl, fd, SETLK, &lock));
	lock.type = F_UNLCK, lock.start = 0, lock.len = 10;
	CHECK(!syscall(SYS_fcntl, fd, SETLK, &lock));
	if (!fork()) {
		lock.type = F_WRLCK, lock.whence = SEEK_SET, lock.start = 0, lock.len = 0;
		CHECK(!syscall(SYS_fcntl, fd, GETLK, &lock) && lock.pid == getppid());
		CHECK(lock.type == F_WRLCK && lock.start == 10 && lock.len == 10);
		lock.whence = 9;
		FAILS(syscall(SYS_fcntl, fd, SETLK, &lock), EINVAL);
		FAILS(syscall(SYS_fcntl, fd, SETLK, -4096), EFAULT);
		_exit(nr_failures != 0);
	}
	CHECK(wait(&status) > 0 && !status && !close(fd) && !unlink("/tmp/rare"));
}

static void test_devices(void)
{
	int zero = open("/dev/zero", O_RDWR), random = open("/dev/urandom", O_RDONLY);
	unsigned char text[300];
	int sum = 0;

	memset(text, 1, sizeof(text));
	CHECK(read(zero, text, 300) == 300 && !text[0] && !text[299]);
	CHECK(write(zero, text, 300) == 300);
	FAILS(read(zero, (void *)-4096, 300), EFAULT);
	CHECK(read(random, text, 300) == 300);
	for (int i = 0; i < 300; i++)
		sum += text[i];
	CHECK(sum > 100 * 128 && sum < 300 * 200);
	FAILS(read(random, (void *)-4096, 300), EFAULT);
	CHECK(syscall(SYS_getrandom, text, 300, 0) == 300);
	FAILS(syscall(SYS_getrandom, text, 300, 64), EINVAL);
	CHECK(!close(zero) && !close(random));
}

static void test_old_mmap(void)
{
	unsigned a[6] = { 0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0 };
	char *at = (char *)syscall(SYS_mmap, a);
	int status, fd = open("/proc/self/exe", O_RDONLY);
	char *text = mmap(NULL, 3 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	CHECK(at != MAP_FAILED);
	a[5] = 1;
	FAILS(syscall(SYS_mmap, a), EINVAL);
	FAILS(syscall(SYS_mmap, -4096), EFAULT);
	FAILS(munmap((void *)0x1001, PAGE), EINVAL);
	if (!fork()) {
		at[PAGE] = 5;
		_exit(0);
	}
	CHECK(wait(&status) > 0 && at[PAGE] == 5 && !madvise(at, 2 * PAGE, MADV_WILLNEED));
	CHECK(text != MAP_FAILED && !madvise(text, 3 * PAGE, MADV_WILLNEED) && text[1] == 'E');
	CHECK(!mlock(text, PAGE));
	FAILS(madvise(text, PAGE, MADV_DONTNEED), EINVAL);
	CHECK(!munmap(text, 3 * PAGE) && !munmap(at, 2 * PAGE) && !close(fd));
}

static long major_faults_of_reading(int fd, int advice)
{
	char *at = mmap(NULL, READ_PAGES * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	struct rusage before, after;
	int sum = 0;

	CHECK(at != MAP_FAILED && !madvise(at, READ_PAGES * PAGE, advice));
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < READ_PAGES; i++)
		sum += ((volatile char *)at)[i * PAGE];
	getrusage(RUSAGE_SELF, &after);
	CHECK(sum == READ_PAGES * 'r' && !munmap(at, READ_PAGES * PAGE));
	return after.ru_majflt - before.ru_majflt;
}

/* On an ext2 with blocks of 1 KiB; only root may drop caches on Linux. */
static void test_advice(void)
{
	int fd = open("/mnt/read", O_RDWR | O_CREAT | O_TRUNC, 0600);
	int drop = open("/proc/sys/vm/drop_caches", O_WRONLY);
	char text[PAGE];
	bool whole = true;

	if (fd < 0 || drop < 0)
		return;
	memset(text, 'r', PAGE);
	for (int i = 0; i < READ_PAGES; i++)
		whole = whole && write(fd, text, PAGE) == PAGE;
	CHECK(whole && !fsync(fd) && write(drop, "1", 1) == 1);
	CHECK(major_faults_of_reading(fd, MADV_RANDOM) == READ_PAGES);
	CHECK(write(drop, "1", 1) == 1);
	CHECK(major_faults_of_reading(fd, MADV_SEQUENTIAL) < READ_PAGES / 4);
	CHECK(!close(fd) && !close(drop) && !unlink("/mnt/read"));
	text[PAGE - 1] = '\0'; /* longer than a block */
	FAILS(symlink(text, "/mnt/link"), ENAMETOOLONG);
}

static void test_limits(void)
{
	struct rlimit limit;
	struct timespec used;
	unsigned word = 0;

	CHECK(!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur &&
	      !setrlimit(RLIMIT_STACK, &limit));
	CHECK(!syscall(SYS_getrlimit, RLIMIT_AS, &limit) && !getrlimit(RLIMIT_CORE, &limit));
	FAILS(getrlimit(99, &limit), EINVAL);
	CHECK(!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) && (used.tv_sec || used.tv_nsec));
	FAILS(clock_gettime(77, &used), EINVAL);
	CHECK(!syscall(SYS_futex, &word, 1, 1));
	FAILS(syscall(SYS_futex, -4096, 1, 1), EFAULT);
}

static void test_script(void)
{
	static const char text[] = "#! /bin/sh \t -v  \nexit 3\n";
	int status, fd = open("/tmp/script", O_WRONLY | O_CREAT | O_TRUNC, 0700);
	char *argv[] = { "script", NULL };
	pid_t pid;

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd));
	pid = fork();
	if (!pid) {
		close(1);
		execve("/tmp/script", argv, argv + 1);
		_exit(4);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3 &&
	      !unlink("/tmp/script"));
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	test_mremap();
	test_brk();
	test_lock_all();
	test_floats();
	test_signals();
	test_poll();
	test_files();
	test_nowhere();
	test_addresses();
	test_old_locks();
	test_devices();
	test_old_mmap();
	test_advice();
	test_limits();
	test_script();
	return check_report("rare");
}
