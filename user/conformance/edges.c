/*
 * edges: does the kernel behave like Linux in edge cases of memory, files and timers? Like abi;
 * Linux is the oracle here, too.
 */
#include "check.h"
#include "lab.h"
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/sysinfo.h>
#include <sys/time.h>

#define HELP                                                                                         \
	"usage: edges [holes|alarm]\n"                                                               \
	"Compare system calls with what Linux answers. checks= made, failures= answers that\n"       \
	"differ; exit status 1 if there are any. alarm: also that a timer outlives being ignored,\n" \
	"as POSIX has it, though Linux does not. holes: read a file that is one hole and larger\n"   \
	"than files may be here, through mmap, and then write to it until there is no room.\n"

enum { MS = 1000, HOLE = 60 << 20 };

static volatile sig_atomic_t nr_caught;
static void *volatile caught_address;
static char *own_path;

static void catch (int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	caught_address = info->si_addr;
	nr_caught++;
}

static void set_catcher(int sig)
{
	struct sigaction action = { .sa_sigaction = catch, .sa_flags = SA_SIGINFO };

	sigaction(sig, &action, NULL);
}

static char *map(int flags, void *at, int nr)
{
	return mmap(at, nr * PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

/* Returns a mapped page followed by an unmapped one. */
static char *last_page(void)
{
	char *two = map(0, NULL, 2);

	munmap(two + PAGE_SIZE_BYTES, PAGE_SIZE_BYTES);
	return two;
}

/* Data before a bad address are written and counted; data after it are not in the file. */
static void test_write_that_fails_halfway(void)
{
	char *page = last_page(), seen[300];
	int fd = open("/tmp/edges", O_RDWR | O_CREAT | O_TRUNC, 0600);

	memset(page, 'x', PAGE_SIZE_BYTES);
	CHECK(pwrite(fd, page, 100, 0) == 100);
	CHECK(pwrite(fd, page + PAGE_SIZE_BYTES - 50, 200, 60) == 50);
	CHECK(lseek(fd, 0, SEEK_END) == 110);
	FAILS(pwrite(fd, page + PAGE_SIZE_BYTES, 200, 60), EFAULT);
	CHECK(!ftruncate(fd, 300) && pread(fd, seen, 300, 0) == 300);
	CHECK(seen[109] == 'x' && seen[110] == '\0' && !memcmp(seen + 110, seen + 111, 189));
	CHECK(!close(fd) && !unlink("/tmp/edges"));
}

static void test_map_over(void)
{
	char *page = map(0, NULL, 1);

	errno = 0;
	CHECK(map(MAP_FIXED | MAP_FIXED_NOREPLACE, page, 1) == MAP_FAILED && errno == EEXIST);
	CHECK(!munmap(page, PAGE_SIZE_BYTES));
	CHECK(map(MAP_FIXED | MAP_FIXED_NOREPLACE, page, 1) == page);
	CHECK(!munmap(page, PAGE_SIZE_BYTES));
}

/* Pages of a file mapping beyond the end of the file cannot be locked, like unmapped memory. */
static void test_lock_behind_the_end(void)
{
	int fd = open("/tmp/edges", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *two;

	CHECK(!ftruncate(fd, 1));
	two = mmap(NULL, 2 * PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(!mlock(two, PAGE_SIZE_BYTES));
	FAILS(mlock(two, 2 * PAGE_SIZE_BYTES), ENOMEM);
	CHECK(!munmap(two, 2 * PAGE_SIZE_BYTES) && !close(fd) && !unlink("/tmp/edges"));
}

static void test_unmapped_ranges(void)
{
	char *page = last_page();

	CHECK(!mlock(page, PAGE_SIZE_BYTES) && !munlock(page, PAGE_SIZE_BYTES));
	FAILS(mlock(page, 2 * PAGE_SIZE_BYTES), ENOMEM);
	FAILS(munlock(page + PAGE_SIZE_BYTES, PAGE_SIZE_BYTES), ENOMEM);
	CHECK(!munlock(page, PAGE_SIZE_BYTES));
	*page = 'x';
	FAILS(madvise(page, 2 * PAGE_SIZE_BYTES, MADV_DONTNEED), ENOMEM);
	CHECK(*page == '\0');
	FAILS(madvise(page, PAGE_SIZE_BYTES, -1), EINVAL);
	FAILS(madvise(page, PAGE_SIZE_BYTES, 77), EINVAL);
	CHECK(!madvise(page + PAGE_SIZE_BYTES, 0, MADV_NORMAL));
	CHECK(!mlockall(MCL_CURRENT) && !munlockall());
	munmap(page, PAGE_SIZE_BYTES);
	test_lock_behind_the_end();
}

/* A period that ends while the signal is ignored is lost; later ones are not. */
static void test_ignored_alarm(void)
{
	struct itimerval timer = { { 0, 2 * MS }, { 0, 2 * MS } }, left;

	signal(SIGALRM, SIG_IGN);
	setitimer(ITIMER_REAL, &timer, NULL);
	usleep(9 * MS);
	CHECK(!getitimer(ITIMER_REAL, &left) && left.it_value.tv_usec && left.it_interval.tv_usec);
	nr_caught = 0;
	set_catcher(SIGALRM);
	while (usleep(50 * MS) && nr_caught < 3)
		;
	CHECK(nr_caught == 3);
	timer.it_value.tv_usec = 0;
	setitimer(ITIMER_REAL, &timer, NULL);
	CHECK(!syscall(SYS_alarm, UINT_MAX) && syscall(SYS_alarm, 0) == INT_MAX);
}

/* Only the signal of a fault has an address. */
static void test_signal_address(void)
{
	set_catcher(SIGUSR1);
	set_catcher(SIGSEGV);
	if (!fork()) {
		kill(getpid(), SIGSEGV);
		_exit(caught_address == (void *)8);
	}
	kill(getpid(), SIGUSR1);
	CHECK(caught_address != (void *)8);
	signal(SIGSEGV, SIG_DFL);
}

static void test_long_paths(void)
{
	char path[PATH_MAX + 8] = "/tmp";

	for (int i = 4; i < PATH_MAX - 2; i += 2)
		strcpy(path + i, "/.");
	CHECK(strlen(path) == PATH_MAX - 2 && !access(path, F_OK));
	strcat(path, "/.");
	FAILS(access(path, F_OK), ENAMETOOLONG);
}

/* Errors that need no access to the file come first. */
static void test_order_of_errors(void)
{
	char st[256];
	int ends[2];

	CHECK(!pipe(ends));
	FAILS(lseek(ends[0], 0, 77), EINVAL);
	FAILS(lseek(ends[0], 0, SEEK_END), ESPIPE);
	FAILS(syscall(SYS_statx, AT_FDCWD, "/nothing", 0, UINT_MAX, st), EINVAL);
	FAILS(syscall(SYS_statx, AT_FDCWD, "/nothing", 0, 0x7ff, st), ENOENT);
	CHECK(!close(ends[0]) && !close(ends[1]));
}

static void test_processes(void)
{
	char *none[] = { NULL };
	int status;
	pid_t pid;

	FAILS(waitpid(INT_MIN, NULL, 0), ESRCH);
	pid = fork();
	if (!pid) {
		execve(own_path, none, none);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 42);
	while (wait(NULL) > 0)
		;
}

/* A dangling link must survive each attempt to execute it: a former bug put its inode each time. */
static void test_program_that_is_not_there(void)
{
	char *none[] = { NULL };

	CHECK(!symlink("nothing", "/tmp/edges-link"));
	for (int i = 0; i < 3; i++)
		FAILS(execve("/tmp/edges-link", none, none), ENOENT);
	CHECK(!rename("/tmp/edges-link", "/tmp/edges-moved") && !unlink("/tmp/edges-moved"));
	CHECK(!symlink("edges-link", "/tmp/edges-link"));
	FAILS(execve("/tmp/edges-link", none, none), ELOOP);
	CHECK(!unlink("/tmp/edges-link"));
}

static unsigned long swap_total_kib(void)
{
	char text[4096], *at;
	int fd = open("/proc/meminfo", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	at = strstr(text, "SwapTotal:");
	return at ? strtoul(at + 10, NULL, 10) : 0;
}

static void test_sysinfo(void)
{
	struct sysinfo info;

	CHECK(!sysinfo(&info));
	CHECK((unsigned long long)info.totalswap * info.mem_unit / 1024 == swap_total_kib());
}

static int read_holes(void)
{
	int fd = open("/tmp/hole", O_RDWR | O_CREAT, 0600);
	volatile char *own, *shared;
	uint32_t sum = 0;

	ftruncate(fd, HOLE);
	own = mmap(NULL, HOLE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	shared = mmap(NULL, HOLE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < HOLE; i += PAGE_SIZE_BYTES)
		sum += own[i];
	own[HOLE - 1] = 1;
	printf("R edges holes sum=%u own=%d\n", sum, own[HOLE - 1]);
	fflush(stdout);
	for (int i = 0; i < HOLE; i += PAGE_SIZE_BYTES)
		shared[i] = 1;
	return 0;
}

/* O_PATH: a place to start from and to query, but not to read or write. */
static void test_place_only(void)
{
	char target[8] = "";
	struct stat st;
	int fd = open("/bin", O_PATH | O_DIRECTORY), copy = dup(fd), sh = openat(fd, "sh", O_PATH);
	struct pollfd polled = { .fd = sh, .events = POLLIN };

	CHECK(fd >= 0 && copy >= 0 && sh >= 0 && fcntl(sh, F_GETFL) == O_PATH);
	CHECK(!fstat(sh, &st) && S_ISREG(st.st_mode) && !fstat(fd, &st) && S_ISDIR(st.st_mode));
	FAILS(read(sh, target, 1), EBADF);
	FAILS(write(sh, target, 1), EBADF);
	FAILS(lseek(sh, 0, SEEK_SET), EBADF);
	FAILS(ioctl(sh, TCGETS, target), EBADF);
	FAILS(ftruncate(sh, 0), EBADF);
	FAILS(fcntl(sh, F_SETFL, O_APPEND), EBADF);
	FAILS(openat(sh, "x", O_RDONLY), ENOTDIR);
	CHECK(mmap(NULL, 1, PROT_READ, MAP_PRIVATE, sh, 0) == MAP_FAILED && errno == EBADF);
	CHECK(poll(&polled, 1, 0) == 1 && polled.revents == POLLNVAL);
	FAILS(open("/bin/sh", O_PATH | O_DIRECTORY), ENOTDIR);
	CHECK(!close(copy) && (copy = open("/proc/self/exe", O_PATH | O_NOFOLLOW)) >= 0);
	CHECK(!fstat(copy, &st) && S_ISLNK(st.st_mode));
	CHECK(open("/tmp/no-place", O_PATH | O_CREAT, 0600) == -1 && errno == ENOENT);
	CHECK(!close(fd) && !close(copy) && !close(sh));
}

int main(int argc, char **argv)
{
	if (!argc || !*argv[0]) /* test_processes started it without a name */
		return argc == 1 ? 42 : 1;
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 1, HELP);
	if (argc == 2 && !strcmp(argv[1], "holes"))
		return read_holes();
	if (argc == 2 && strcmp(argv[1], "alarm"))
		usage_error(HELP);
	if (argc == 2)
		test_ignored_alarm();
	own_path = "/proc/self/exe";
	test_write_that_fails_halfway();
	test_map_over();
	test_unmapped_ranges();
	test_signal_address();
	test_long_paths();
	test_order_of_errors();
	test_processes();
	test_program_that_is_not_there();
	test_sysinfo();
	test_place_only();
	return check_report("edges");
}
