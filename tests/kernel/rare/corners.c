/*
 * corners: calls at their limits: names that are too long, no free descriptor, a signal at the wrong
 * moment. As with abi, Linux is the reference: run there, this must report no failures, either.
 */
#include "check.h"
#include "lab.h"
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <termios.h>

#define HELP "usage: corners\n"
#define PAGE PAGE_SIZE_BYTES
#define NOWHERE ((void *)-4096)
#define PLACE "/tmp/corners"

enum { AF_UNKNOWN = 12 };

static volatile int nr_caught;

static void caught(int sig)
{
	(void)sig;
	nr_caught++;
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	CHECK(!sigaction(sig, &action, NULL));
}

static int status_of(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* --- names --- */

static void test_long_names(void)
{
	char name[300] = PLACE "/";

	memset(name + strlen(name), 'n', 256);
	FAILS(mkdir(name, 0700), ENAMETOOLONG);
	FAILS(open(name, O_CREAT | O_WRONLY, 0600), ENAMETOOLONG);
	FAILS(symlink("x", name), ENAMETOOLONG);
	CHECK(!mknod(PLACE "/file", S_IFREG | 0600, 0));
	FAILS(link(PLACE "/file", name), ENAMETOOLONG);
	FAILS(rename(PLACE "/file", name), ENAMETOOLONG);
	name[strlen(name) - 1] = '\0';
	CHECK(!rename(PLACE "/file", name) && !unlink(name));
}

static void test_links(void)
{
	char text[20] = "";

	CHECK(!symlink("/proc", PLACE "/absolute"));
	CHECK(readlink(PLACE "/absolute/self", text, sizeof(text)) > 0 && atoi(text) == getpid());
	CHECK(!unlink(PLACE "/absolute"));
}

/* A removed directory accepts no names, and contains none. */
static void test_removed_directory(void)
{
	char here[100];
	int fd;

	CHECK(!mkdir(PLACE "/gone", 0700) && !chdir(PLACE "/gone") && !rmdir(PLACE "/gone"));
	CHECK((fd = open(PLACE "/file", O_CREAT | O_WRONLY, 0600)) >= 0 && !close(fd));
	FAILS(rename(PLACE "/file", "file"), ENOENT);
	FAILS(link(PLACE "/file", "file"), ENOENT);
	FAILS(open("file", O_CREAT | O_WRONLY, 0600), ENOENT);
	CHECK(!getcwd(here, sizeof(here)) && errno == ENOENT);
	CHECK(!chdir("/proc/self") && getcwd(here, sizeof(here)));
	CHECK(!strncmp(here, "/proc/", 6) && atoi(here + 6) == getpid());
	CHECK(!chdir("/") && !unlink(PLACE "/file"));
}

static void test_attributes(void)
{
	struct timespec64 {
		long long sec, nsec;
	} never[2] = { { 0, 1000000000 }, { 0, 0 } };
	int fd = open(PLACE "/file", O_CREAT | O_RDWR, 0600);
	char stat64[200];

	FAILS(chmod("/proc/self/stat", 0600), EPERM);
	CHECK(!syscall(SYS_fchownat, fd, "", -1, -1, AT_EMPTY_PATH));
	FAILS(syscall(SYS_fchownat, fd, NOWHERE, -1, -1, AT_EMPTY_PATH), EFAULT);
	FAILS(syscall(SYS_fchownat, -5, "", -1, -1, AT_EMPTY_PATH), EBADF);
	FAILS(syscall(SYS_fstatat64, fd, NOWHERE, stat64, AT_EMPTY_PATH), EFAULT);
	FAILS(syscall(SYS_utimensat_time64, fd, NULL, never, 0), EINVAL);
	FAILS(lseek(fd, -1, SEEK_CUR), EINVAL);
	CHECK(lseek(fd, 1, SEEK_SET) == 1);
	CHECK(lseek(fd, INT64_MAX, SEEK_CUR) == -1);
	CHECK(lseek(fd, 0, SEEK_CUR) == 1 && !close(fd) && !unlink(PLACE "/file"));
}

/* --- descriptors --- */

/* If a call needs two descriptors and fails, it keeps neither. */
static void test_no_descriptor_left(void)
{
	struct rlimit few = { 100, 100 }, most;
	int ends[2] = { -1, -1 }, last = -1, fd;

	if (fork()) {
		int status;

		CHECK(wait(&status) > 0 && !status);
		return;
	}
	setrlimit(RLIMIT_NOFILE, &few); /* Linux may have a million; a kernel may refuse */
	CHECK(!getrlimit(RLIMIT_NOFILE, &most));
	while ((fd = dup(0)) >= 0)
		last = fd;
	CHECK(errno == EMFILE && (unsigned)last == most.rlim_cur - 1);
	FAILS(open("/dev/null", O_RDONLY), EMFILE);
	FAILS(syscall(SYS_memfd_create, "none", 0), EMFILE);
	FAILS(pipe(ends), EMFILE);
	CHECK(!close(last));
	FAILS(pipe(ends), EMFILE);
	CHECK(ends[0] == -1 && ends[1] == -1 && dup(0) == last);
	CHECK(!close(last) && !close(last - 1) && !pipe(ends));
	_exit(nr_failures != 0);
}

/* Unlocks the end and then the beginning of a lock: what does another process see of it? */
static void test_locks(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = 10, .l_len = 20 };
	int fd = open(PLACE "/file", O_CREAT | O_RDWR, 0600);
	pid_t pid;

	CHECK(!fcntl(fd, F_SETLK, &lock));
	lock = (struct flock){ .l_type = F_UNLCK, .l_start = 20, .l_len = 100 };
	CHECK(!fcntl(fd, F_SETLK, &lock));
	lock.l_start = 0, lock.l_len = 15;
	CHECK(!fcntl(fd, F_SETLK, &lock));
	pid = fork();
	if (!pid) {
		lock = (struct flock){ .l_type = F_WRLCK };
		CHECK(!fcntl(fd, F_GETLK, &lock) && lock.l_type == F_WRLCK &&
		      lock.l_pid == getppid());
		CHECK(lock.l_start == 15 && lock.l_len == 5);
		_exit(nr_failures != 0);
	}
	CHECK(!status_of(pid) && !close(fd) && !unlink(PLACE "/file"));
}

static void test_terminal(void)
{
	struct pollfd out = { .fd = 1, .events = POLLOUT };
	struct termios as_it_is;
	int group = -1;

	CHECK(poll(&out, 1, -1) == 1 && out.revents == POLLOUT);
	FAILS(write(1, NOWHERE, 10), EFAULT);
	if (!isatty(1))
		return;
	FAILS(ioctl(1, TIOCSPGRP, NOWHERE), EFAULT);
	FAILS(ioctl(1, TIOCSPGRP, &group), EINVAL);
	FAILS(ioctl(1, TCSETSF, NOWHERE), EFAULT);
	CHECK(!ioctl(1, TCGETS, &as_it_is) && !ioctl(1, TCSETSF, &as_it_is));
	CHECK(write(1, "\r", 1) == 1);
}

/* --- signals --- */

static void fault(void)
{
	volatile int *volatile nothing = NULL;

	*nothing = 1;
}

/* A fault whose signal is blocked or ignored kills the process, even if there is a handler. */
static void test_fault_that_nobody_handles(void)
{
	for (int ignored = 0; ignored < 2; ignored++) {
		pid_t pid = fork();

		if (!pid) {
			sigset_t segv;

			sigemptyset(&segv);
			sigaddset(&segv, SIGSEGV);
			handle(SIGSEGV, ignored ? SIG_IGN : caught, 0);
			if (!ignored)
				sigprocmask(SIG_BLOCK, &segv, NULL);
			fault();
			_exit(0);
		}
		CHECK(WTERMSIG(status_of(pid)) == SIGSEGV);
	}
}

/* A signal that arrives when the stack pointer is invalid; with SA_SIGINFO its frame has another layout. */
static void test_handler_without_stack(void)
{
	for (int flags = 0; flags <= SA_SIGINFO; flags += SA_SIGINFO) {
		pid_t pid = fork();

		if (!pid) {
			handle(SIGUSR1, caught, flags);
			__asm__ volatile("mov $0x10000, %%esp; int $0x80" ::"a"(SYS_kill),
					 "b"(getpid()), "c"(SIGUSR1));
			__builtin_unreachable();
		}
		CHECK(WTERMSIG(status_of(pid)) == SIGSEGV);
	}
}

static void test_handler_for_once(void)
{
	pid_t pid = fork();

	if (!pid) {
		nr_caught = 0;
		handle(SIGUSR1, caught, SA_RESETHAND);
		raise(SIGUSR1);
		CHECK(nr_caught == 1);
		raise(SIGUSR1);
		_exit(0);
	}
	CHECK(WTERMSIG(status_of(pid)) == SIGUSR1);
}

/* A sleep that a signal interrupts returns the remaining time. */
static void test_rest_of_a_sleep(void)
{
	struct {
		long long sec, nsec;
	} time = { 100, 0 }, rest = { 0, 0 };
	struct itimerval soon = { .it_value.tv_usec = 2000 };

	handle(SIGALRM, caught, 0);
	CHECK(!setitimer(ITIMER_REAL, &soon, NULL));
	FAILS(syscall(SYS_clock_nanosleep_time64, CLOCK_MONOTONIC, 0, &time, &rest), EINTR);
	CHECK(rest.sec == 99 && rest.nsec >= 0 && rest.nsec < 1000000000);
	CHECK(!setitimer(ITIMER_REAL, &soon, NULL));
	FAILS(syscall(SYS_clock_nanosleep_time64, CLOCK_MONOTONIC, 0, &time, NOWHERE), EFAULT);
}

/* --- memory --- */

static long locked_kb(const void *at)
{
	char line[200], begin[20];
	FILE *maps = fopen("/proc/self/smaps", "r");
	bool here = false;
	long kb = -1;

	snprintf(begin, sizeof(begin), "%08lx-", (unsigned long)at);
	while (kb < 0 && fgets(line, sizeof(line), maps)) {
		if (!strncmp(line, begin, strlen(begin)))
			here = true;
		else if (here && !strncmp(line, "Locked:", 7))
			kb = atol(line + 7);
	}
	fclose(maps);
	return kb;
}

static void test_locked(void)
{
	int fd = open(PLACE "/file", O_CREAT | O_RDWR, 0600);
	char *at = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(!mlock(at, 8 * PAGE) && locked_kb(at) == 8 * PAGE_KB);
	CHECK(!munlock(at, 8 * PAGE) && locked_kb(at) <= 0 && !munmap(at, 8 * PAGE));
	at = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	FAILS(mlock(at, 2 * PAGE), ENOMEM); /* the file does not have these pages */
	CHECK(!munmap(at, 2 * PAGE) && !close(fd) && !unlink(PLACE "/file"));
	FAILS(mmap(NULL, (size_t)-PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0), ENOMEM);
}

/* Locks a mapping before its pages are resident, of a file whose pages are read in clusters. */
static void test_locked_file(const char *place)
{
	char name[100], text[PAGE];
	int fd;
	char *at;

	snprintf(name, sizeof(name), "%s/locked", place);
	memset(text, 'l', PAGE);
	fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
	for (int i = 0; i < 16; i++)
		CHECK(write(fd, text, PAGE) == PAGE);
	at = mmap(NULL, 16 * PAGE, PROT_READ, MAP_SHARED | MAP_LOCKED, fd, 0);
	CHECK(at != MAP_FAILED && at[15 * PAGE] == 'l' && locked_kb(at) == 16 * PAGE_KB);
	CHECK(!munmap(at, 16 * PAGE) && !close(fd) && !unlink(name));
}

static void test_segments(void)
{
	enum { MOST = 300 }; /* Linux allows more */
	static int id[MOST];
	int nr = 0, first;
	char *at;

	while (nr < MOST && (id[nr] = shmget(IPC_PRIVATE, PAGE, 0600)) >= 0)
		nr++;
	CHECK(nr == MOST || (nr && errno == ENOSPC));
	first = id[0];
	at = shmat(first, NULL, 0);
	at[5] = 's';
	FAILS(shmat(first, at, 0), EINVAL);
	CHECK(shmat(first, at, SHM_REMAP) == at && at[5] == 's');
	FAILS(shmat(first, NULL, SHM_REMAP), EINVAL);
	CHECK(!shmdt(at));
	while (nr--)
		CHECK(!shmctl(id[nr], IPC_RMID, NULL));
}

/* --- programs --- */

static void write_script(const char *text, size_t n)
{
	int fd = open(PLACE "/script", O_CREAT | O_WRONLY | O_TRUNC, 0700);

	CHECK(write(fd, text, n) == (ssize_t)n && !close(fd));
}

/* With an argument of this size, the words inserted for a script's interpreter may have any length. */
static void test_scripts(void)
{
	static const char text[] = "#!/bin/sh\nexit 5\n";
	char name[] = PLACE "/script", word[5000], *const words[] = { name, word, NULL };

	write_script(text, strlen(text));
	for (int size = 3900; size < 4200; size++) {
		pid_t pid = fork();

		memset(word, 'w', sizeof(word));
		word[size] = '\0';
		if (!pid) {
			execve(name, words, words + 2);
			_exit(6);
		}
		CHECK(WEXITSTATUS(status_of(pid)) == 5);
	}
	memset(word, 'w', sizeof(word));
	memcpy(word, "#!", 2);
	write_script(word, sizeof(word));
	FAILS(execve(name, words + 2, words + 2), ENOEXEC);
	CHECK(!unlink(name));
}

/* --- holes --- */

enum { HOLE_PAGES = 8192, HOLE_AT = 5000 };

static long sum_of(volatile const char *at, int pages)
{
	long sum = 0;

	for (int i = 0; i < pages; i++)
		sum += at[i * PAGE];
	return sum;
}

static void on_bus_error(int sig)
{
	_exit(sig);
}

/* Returns the byte at an address, or SIGBUS. */
static int status_of_look(volatile const char *at)
{
	pid_t pid = fork();

	if (!pid) {
		handle(SIGBUS, on_bus_error, 0);
		_exit(*at);
	}
	return WEXITSTATUS(status_of(pid));
}

/* A file of 32 MiB that is one hole is read through mappings, also with less memory than that. Later writes, by a
 * call or through another mapping, are visible in all of them. */
static void test_holes(void)
{
	int fd = open(PLACE "/holes", O_CREAT | O_RDWR, 0600);
	size_t size = HOLE_PAGES * PAGE;
	char *a, *b, *private;

	CHECK(fd >= 0 && !ftruncate(fd, size));
	a = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	b = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	private = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(!sum_of(a, HOLE_PAGES) && !sum_of(b, HOLE_PAGES) && !sum_of(private, HOLE_PAGES));
	CHECK(pwrite(fd, "w", 1, HOLE_AT * PAGE) == 1);
	CHECK(a[HOLE_AT * PAGE] == 'w' && b[HOLE_AT * PAGE] == 'w' &&
	      private[HOLE_AT * PAGE] == 'w');
	a[(HOLE_AT + 1) * PAGE] = 'm';
	CHECK(b[(HOLE_AT + 1) * PAGE] == 'm' && private[(HOLE_AT + 1) * PAGE] == 'm');
	CHECK(pread(fd, private, 1, (HOLE_AT + 1) * PAGE) == 1 && *private == 'm' && !*a);
	CHECK(status_of_look(b + (HOLE_AT + 1) * PAGE) == 'm' && !status_of_look(b + PAGE));
	CHECK(!ftruncate(fd, HOLE_AT * PAGE) && !ftruncate(fd, size));
	CHECK(!sum_of(a, HOLE_PAGES) && !sum_of(b, HOLE_PAGES));
	CHECK(!ftruncate(fd, PAGE) && status_of_look(b + PAGE) == SIGBUS && !status_of_look(b));
	CHECK(status_of_look(a + PAGE) == SIGBUS && *private == 'm');
	CHECK(!munmap(a, size) && !munmap(b, size) && !munmap(private, size));
	CHECK(!close(fd) && !unlink(PLACE "/holes"));
}

/* --- sockets --- */

/* There are no address families. Looking up an unknown group opens a socket, too, and must not fail because of that. */
static void test_no_socket(void)
{
	enum { SOCKETCALL_SOCKET = 1, SOCKETCALL_LISTEN = 4 };
	long words[] = { AF_UNKNOWN, SOCK_STREAM, 0 };
	struct group group, *found = &group;
	struct passwd user, *seen = &user;
	char text[1000];
	int fds[2];

	FAILS(socket(AF_UNKNOWN, SOCK_STREAM | SOCK_CLOEXEC, 0), EAFNOSUPPORT);
	FAILS(socket(1000, 15, 0), EAFNOSUPPORT);
	FAILS(socket(AF_UNIX, 15, 0), EINVAL);
	FAILS(socket(AF_UNIX, 0x100, 0), EINVAL);
	FAILS(socketpair(AF_UNKNOWN, SOCK_STREAM, 0, fds), EAFNOSUPPORT);
	FAILS(listen(0, 1), ENOTSOCK);
	FAILS(listen(1000, 1), EBADF);
	FAILS(syscall(SYS_socketcall, SOCKETCALL_SOCKET, words), EAFNOSUPPORT);
	FAILS(syscall(SYS_socketcall, SOCKETCALL_SOCKET, NOWHERE), EFAULT);
	words[0] = 0;
	FAILS(syscall(SYS_socketcall, SOCKETCALL_LISTEN, words), ENOTSOCK);
	FAILS(syscall(SYS_socketcall, 21, words), EINVAL);
	CHECK(!getgrnam_r("nosuchgroup", &group, text, sizeof(text), &found) && !found);
	CHECK(!getpwnam_r("nosuchuser", &user, text, sizeof(text), &seen) && !seen);
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	CHECK(!mkdir(PLACE, 0700));
	test_long_names();
	test_links();
	test_removed_directory();
	test_attributes();
	test_no_descriptor_left();
	test_locks();
	test_terminal();
	test_fault_that_nobody_handles();
	test_handler_without_stack();
	test_handler_for_once();
	test_rest_of_a_sleep();
	test_locked();
	test_locked_file(access("/mnt/corners", F_OK) ? PLACE : "/mnt");
	test_segments();
	test_scripts();
	test_holes();
	test_no_socket();
	CHECK(!rmdir(PLACE));
	return check_report("corners");
}
