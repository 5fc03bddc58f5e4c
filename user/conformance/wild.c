/*
 * wild: passes wild pointers to every system call.
 *
 * A kernel must not trust an address from a program. The sweep calls every number from 0 to 449
 * with addresses that are unmapped, unaligned, in the kernel's half, at the very top, across the
 * end of a mapping, or read-only, in every position. It only requires that the caller survives: any
 * result is accepted. The demands know how a call uses one pointer and require EFAULT, for each
 * kind of address that is always wrong there. A call that the kernel does not have (ENOSYS) demands
 * nothing.
 *
 * Each call runs in a child with pipes for stdin, stdout and stderr, so that closed files or
 * unmapped memory have no lasting effect. A child that does not end within HANG_MS is killed and
 * counts as a failure, like one that a signal killed. Left out are calls that end, block, fork,
 * signal others, change the machine, or remove the program's own memory: with matching arguments
 * they would do so. On Linux, the oracle for the demands, run it as an ordinary user.
 */
#include "lab.h"
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#define HELP                                                                                       \
	"usage: wild [NUMBER]\n"                                                                   \
	"Call every system call (or only this one) with wild pointers. calls= children run,\n"     \
	"efault= demands answered by EFAULT, failures= what should not have happened.\n"

enum { MAX_CALL = 449, HANG_MS = 10000, NR_ARGS = 6, STATX_ALL_FIELDS = 0x7ff };

static const short left_out[] = {
	SYS_exit,
	SYS_exit_group,
	SYS_fork,
	SYS_vfork,
	SYS_clone,
	SYS_clone3,
	SYS_reboot,
	SYS_pause,
	SYS_nanosleep,
	SYS_clock_nanosleep_time32,
	SYS_clock_nanosleep_time64,
	SYS_poll,
	SYS_ppoll,
	SYS_ppoll_time64,
	SYS_select,
	SYS__newselect,
	SYS_pselect6,
	SYS_pselect6_time64,
	SYS_waitpid,
	SYS_wait4,
	SYS_waitid,
	SYS_sigsuspend,
	SYS_rt_sigsuspend,
	SYS_futex,
	SYS_futex_time64,
	449 /* futex_waitv */,
	SYS_epoll_wait,
	SYS_epoll_pwait,
	441 /* epoll_pwait2 */,
	SYS_rt_sigtimedwait,
	SYS_rt_sigtimedwait_time64,
	SYS_sigreturn,
	SYS_rt_sigreturn,
	SYS_kill,
	SYS_tkill,
	SYS_tgkill,
	SYS_rt_sigqueueinfo,
	SYS_rt_tgsigqueueinfo,
	SYS_pidfd_send_signal,
	SYS_ptrace,
	SYS_alarm,
	SYS_stime,
	SYS_settimeofday_time32,
	SYS_clock_settime32,
	SYS_clock_settime64,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_vhangup,
	SYS_seccomp,
	SYS_msgsnd,
	SYS_msgrcv,
	SYS_munmap,
	SYS_madvise,
};

/* The addresses; make_addresses() fills in the last two. */
enum address { NULL_PAGE, UNALIGNED, KERNEL, TOP, UNMAPPED, EDGE, READ_ONLY, NR_ADDRESSES };

static const char *const address_names[] = {
	"0", "1", "0xc0000000", "0xfffffff0", "0x40000000", "a page's end", "read-only memory"
};
static uintptr_t addresses[NR_ADDRESSES] = { 0, 1, 0xC0000000, 0xFFFFFFF0, 0x40000000 };

/* Placeholders in an argument list, replaced when the call is made. */
enum { WILD = 0x5e5e0000, GOOD, ROOT_NAME, BIN_TRUE, DATA_FD, SINK_FD, DIR_FD, TTY_FD };

static const long sweeps[][NR_ARGS] = {
	{ WILD, WILD, WILD, WILD, WILD, WILD },
	{ 0, WILD, WILD, WILD, WILD, WILD },
	{ 0, WILD, 8, WILD, 8, WILD },
	{ 1, WILD, 1, WILD, 0, 0 },
	{ WILD, 0, WILD, 0, 0, 0 },
	{ WILD, 8, 0, 0, 0, 0 },
};

enum { F_GETLK64_NUMBER = 12 };

/* Addresses that are wrong for a pointer, in addition to those that always are. */
enum {
	NOT_NULL = 1,
	NOT_EDGE = 2,
	NOT_READ_ONLY = 4,
	OUTPUT = NOT_NULL | NOT_EDGE | NOT_READ_ONLY
};

struct demand {
	const char *name;
	short call;
	unsigned int wrong;
	long args[NR_ARGS];
};

static const struct demand demands[] = {
	{ "read", SYS_read, NOT_NULL | NOT_READ_ONLY, { DATA_FD, WILD, 8 } },
	{ "write", SYS_write, NOT_NULL, { SINK_FD, WILD, 8 } },
	{ "readv", SYS_readv, NOT_NULL | NOT_EDGE, { DATA_FD, WILD, 1 } },
	{ "writev", SYS_writev, NOT_NULL | NOT_EDGE, { SINK_FD, WILD, 1 } },
	{ "open", SYS_open, NOT_NULL | NOT_EDGE, { WILD, O_RDONLY } },
	{ "execve path", SYS_execve, NOT_NULL | NOT_EDGE, { WILD, 0, 0 } },
	{ "execve argv", SYS_execve, NOT_EDGE, { BIN_TRUE, WILD, 0 } },
	{ "execve envp", SYS_execve, NOT_EDGE, { BIN_TRUE, 0, WILD } },
	{ "chdir", SYS_chdir, NOT_NULL | NOT_EDGE, { WILD } },
	{ "mkdir", SYS_mkdir, NOT_NULL | NOT_EDGE, { WILD, 0777 } },
	{ "unlink", SYS_unlink, NOT_NULL | NOT_EDGE, { WILD } },
	{ "access", SYS_access, NOT_NULL | NOT_EDGE, { WILD, 0 } },
	{ "readlink", SYS_readlink, NOT_NULL | NOT_EDGE, { WILD, GOOD, 8 } },
	{ "link", SYS_link, NOT_NULL | NOT_EDGE, { WILD, ROOT_NAME } },
	{ "link name", SYS_link, NOT_NULL | NOT_EDGE, { ROOT_NAME, WILD } },
	{ "symlink", SYS_symlink, NOT_NULL | NOT_EDGE, { WILD, ROOT_NAME } },
	{ "mknod", SYS_mknod, NOT_NULL | NOT_EDGE, { WILD, 0, 0 } },
	{ "chmod", SYS_chmod, NOT_NULL | NOT_EDGE, { WILD, 0 } },
	{ "chown32", SYS_chown32, NOT_NULL | NOT_EDGE, { WILD, 0, 0 } },
	{ "truncate64", SYS_truncate64, NOT_NULL | NOT_EDGE, { WILD, 0, 0 } },
	{ "utimensat times", SYS_utimensat, NOT_EDGE, { AT_FDCWD, ROOT_NAME, WILD, 0 } },
	{ "mount path", SYS_mount, NOT_NULL | NOT_EDGE, { 0, WILD, 0, 0, 0 } },
	{ "mount type", SYS_mount, NOT_EDGE, { 0, ROOT_NAME, WILD, 0, 0 } },
	{ "umount2", SYS_umount2, NOT_NULL | NOT_EDGE, { WILD, 0 } },
	{ "getxattr name", SYS_getxattr, NOT_NULL | NOT_EDGE, { ROOT_NAME, WILD, 0, 0 } },
	{ "statfs", SYS_statfs, OUTPUT, { ROOT_NAME, WILD } },
	{ "statfs64", SYS_statfs64, OUTPUT, { ROOT_NAME, 84, WILD } },
	{ "fcntl64 F_GETLK64",
	  SYS_fcntl64,
	  NOT_NULL | NOT_EDGE,
	  { DIR_FD, F_GETLK64_NUMBER, WILD } },
	{ "stat64 path", SYS_stat64, NOT_NULL | NOT_EDGE, { WILD, GOOD } },
	{ "stat64", SYS_stat64, OUTPUT, { ROOT_NAME, WILD } },
	{ "lstat64", SYS_lstat64, OUTPUT, { ROOT_NAME, WILD } },
	{ "fstat64", SYS_fstat64, OUTPUT, { DIR_FD, WILD } },
	{ "statx path", SYS_statx, NOT_EDGE, { AT_FDCWD, WILD, 0, STATX_ALL_FIELDS, GOOD } },
	{ "statx", SYS_statx, OUTPUT, { AT_FDCWD, ROOT_NAME, 0, STATX_ALL_FIELDS, WILD } },
	{ "getdents64", SYS_getdents64, OUTPUT, { DIR_FD, WILD, 512 } },
	{ "getcwd", SYS_getcwd, NOT_NULL | NOT_READ_ONLY, { WILD, 64 } },
	{ "_llseek", SYS__llseek, OUTPUT, { DIR_FD, 0, 0, WILD, SEEK_SET } },
	{ "ioctl TIOCGWINSZ", SYS_ioctl, OUTPUT, { TTY_FD, TIOCGWINSZ, WILD } },
	{ "ioctl TCGETS", SYS_ioctl, OUTPUT, { TTY_FD, TCGETS, WILD } },
	{ "ioctl TIOCGPGRP", SYS_ioctl, OUTPUT, { TTY_FD, TIOCGPGRP, WILD } },
	{ "pipe", SYS_pipe, OUTPUT, { WILD } },
	{ "pipe2", SYS_pipe2, OUTPUT, { WILD, 0 } },
	{ "poll", SYS_poll, NOT_NULL | NOT_EDGE, { WILD, 1, 0 } },
	{ "wait4", SYS_wait4, NOT_EDGE | NOT_READ_ONLY, { -1, WILD, 0, 0 } },
	{ "wait4 rusage", SYS_wait4, NOT_EDGE | NOT_READ_ONLY, { -1, 0, 0, WILD } },
	{ "rt_sigaction", SYS_rt_sigaction, NOT_EDGE, { SIGUSR1, WILD, 0, 8 } },
	{ "rt_sigaction old", SYS_rt_sigaction, NOT_EDGE | NOT_READ_ONLY, { SIGUSR1, 0, WILD, 8 } },
	{ "rt_sigprocmask", SYS_rt_sigprocmask, NOT_EDGE, { SIG_BLOCK, WILD, 0, 8 } },
	{ "rt_sigprocmask old",
	  SYS_rt_sigprocmask,
	  NOT_EDGE | NOT_READ_ONLY,
	  { SIG_BLOCK, 0, WILD, 8 } },
	{ "uname", SYS_uname, OUTPUT, { WILD } },
	{ "sysinfo", SYS_sysinfo, OUTPUT, { WILD } },
	{ "times", SYS_times, NOT_EDGE | NOT_READ_ONLY, { WILD } },
	{ "getrusage", SYS_getrusage, OUTPUT, { RUSAGE_SELF, WILD } },
	{ "gettimeofday", SYS_gettimeofday_time32, NOT_EDGE | NOT_READ_ONLY, { WILD, 0 } },
	{ "clock_gettime", SYS_clock_gettime32, OUTPUT, { CLOCK_MONOTONIC, WILD } },
	{ "clock_gettime64", SYS_clock_gettime64, OUTPUT, { CLOCK_MONOTONIC, WILD } },
	{ "nanosleep", SYS_nanosleep, NOT_NULL | NOT_EDGE, { WILD, 0 } },
	{ "clock_nanosleep_time64",
	  SYS_clock_nanosleep_time64,
	  NOT_NULL | NOT_EDGE,
	  { CLOCK_MONOTONIC, 0, WILD, 0 } },
	{ "set_thread_area", SYS_set_thread_area, NOT_NULL | NOT_EDGE, { WILD } },
};

/*
 * Exit statuses of a child, besides an errno that a demand got instead of EFAULT.
 */
enum { ANSWER_FINE = 0, ANSWER_SUCCESS = 254, ANSWER_SET_UP = 255 };

static int nr_calls, nr_efault, nr_failures;
static char good[512];

static void make_addresses(void)
{
	char *pages = lab_map(3);

	memset(pages, 'x', PAGE_SIZE_BYTES);
	/* Three bytes: an object of four or more extends into the hole, and no string ends before
	 * it. */
	addresses[EDGE] = (uintptr_t)pages + PAGE_SIZE_BYTES - 3;
	addresses[READ_ONLY] = (uintptr_t)pages + 2 * PAGE_SIZE_BYTES;
	if (munmap(pages + PAGE_SIZE_BYTES, PAGE_SIZE_BYTES) ||
	    mprotect(pages + 2 * PAGE_SIZE_BYTES, PAGE_SIZE_BYTES, PROT_READ))
		die_errno("mprotect");
}

/*
 * Replaces stdin by a pipe at its end, and stdout and stderr by pipes that have a reader.
 */
static void isolate(void)
{
	int in[2], out[2];

	if (pipe(in) || pipe(out))
		_exit(ANSWER_SET_UP);
	dup2(in[0], 0);
	dup2(out[1], 1);
	dup2(out[1], 2);
	close(in[0]);
	close(in[1]);
}

static long make_fd(long kind)
{
	int ends[2];

	if (kind == DIR_FD)
		return open("/", O_RDONLY | O_DIRECTORY);
	if (pipe(ends) || write(ends[1], good, sizeof(good)) != sizeof(good))
		_exit(ANSWER_SET_UP);
	return kind == DATA_FD ? ends[0] : ends[1];
}

static long make_argument(long value, uintptr_t wild)
{
	switch (value) {
	case WILD:
		return wild;
	case GOOD:
		return (long)good;
	case ROOT_NAME:
		return (long)"/";
	case BIN_TRUE:
		return (long)"/bin/true";
	case TTY_FD:
		return 0;
	case DATA_FD:
	case SINK_FD:
	case DIR_FD:
		return make_fd(value);
	default:
		return value;
	}
}

static long make_call(int call, const long *args, uintptr_t wild)
{
	long a[NR_ARGS];

	for (int i = 0; i < NR_ARGS; i++)
		a[i] = make_argument(args[i], wild);
	return syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]);
}

__attribute__((noreturn)) static void sweep_child(int call)
{
	isolate();
	for (size_t i = 0; i < ARRAY_SIZE(sweeps); i++) {
		for (int a = 0; a < NR_ADDRESSES; a++)
			make_call(call, sweeps[i], addresses[a]);
	}
	_exit(ANSWER_FINE);
}

__attribute__((noreturn)) static void demand_child(const struct demand *d, uintptr_t wild)
{
	/* a child to wait for */
	if (d->call == SYS_wait4 && !fork())
		_exit(0);
	if (make_call(d->call, d->args, wild) >= 0)
		_exit(ANSWER_SUCCESS);
	_exit(errno);
}

/*
 * Wait for @pid, which holds the other end of @alive, or kill it if it hangs. Returns its wait
 * status.
 */
static int wait_or_kill(pid_t pid, int alive, const char *what)
{
	struct pollfd end = { .fd = alive, .events = POLLIN };
	int status = 0;

	if (poll(&end, 1, HANG_MS) == 0) {
		printf("wild: %s: hangs\n", what);
		kill(pid, SIGKILL);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status)) {
		printf("wild: %s: killed by signal %d (%s)\n", what, WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
		nr_failures++;
	}
	return status;
}

/* Run a child that sweeps over @call or, if @d is not NULL, makes the demand @d with address @a. */
static int run_child(int call, const struct demand *d, int a, const char *what)
{
	int alive[2], status;
	pid_t pid;

	nr_calls++;
	if (pipe(alive))
		die_errno("pipe");
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die_errno("fork");
	if (!pid) {
		close(alive[0]);
		if (d)
			demand_child(d, addresses[a]);
		sweep_child(call);
	}
	close(alive[1]);
	status = wait_or_kill(pid, alive[0], what);
	close(alive[0]);
	return status;
}

static bool is_left_out(int call)
{
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++) {
		if (left_out[i] == call)
			return true;
	}
	return false;
}

static void sweep(int call)
{
	char what[32];
	int status;

	snprintf(what, sizeof(what), "system call %d", call);
	status = run_child(call, NULL, 0, what);
	if (WIFEXITED(status) && WEXITSTATUS(status) != ANSWER_FINE) {
		printf("wild: %s: the child could not be set up\n", what);
		nr_failures++;
	}
}

static bool is_wrong(const struct demand *d, int a)
{
	return (a != NULL_PAGE || d->wrong & NOT_NULL) && (a != EDGE || d->wrong & NOT_EDGE) &&
	       (a != READ_ONLY || d->wrong & NOT_READ_ONLY);
}

static void make_demand(const struct demand *d, int a)
{
	char what[64];
	int status, answer;

	snprintf(what, sizeof(what), "%s with %s", d->name, address_names[a]);
	status = run_child(d->call, d, a, what);
	answer = WEXITSTATUS(status);
	if (!WIFEXITED(status) || answer == ENOSYS)
		return;
	if (answer == EFAULT) {
		nr_efault++;
		return;
	}
	printf("wild: %s: %s, not EFAULT\n", what,
	       answer == ANSWER_SUCCESS ? "success" : strerror(answer));
	nr_failures++;
}

int main(int argc, char **argv)
{
	int only = -1;

	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 1, HELP);
	if (argc > 1)
		only = parse_number(argv[1], "NUMBER", 0, MAX_CALL);
	make_addresses();
	signal(SIGPIPE, SIG_IGN);
	for (int call = 0; call <= MAX_CALL; call++) {
		if (!is_left_out(call) && (only < 0 || call == only))
			sweep(call);
	}
	for (const struct demand *d = demands; d < demands + ARRAY_SIZE(demands); d++) {
		if ((only >= 0 && d->call != only) || (d->args[0] == TTY_FD && !isatty(0)))
			continue;
		for (int a = 0; a < NR_ADDRESSES; a++) {
			if (is_wrong(d, a))
				make_demand(d, a);
		}
	}
	printf("R wild calls=%d efault=%d failures=%d\n", nr_calls, nr_efault, nr_failures);
	return nr_failures != 0;
}
