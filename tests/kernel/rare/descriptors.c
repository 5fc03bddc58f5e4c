/*
 * descriptors: a process with as many descriptors as Linux permits by default, and the calls that take numbers up to
 * the last one. On Linux, too, this must report no failures.
 */
#include "check.h"
#include "lab.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define HELP "usage: descriptors [exec]\n"

enum { MOST = 1024, LAST = MOST - 1, BITS = 2 * MOST, NEWSELECT = 142, PSELECT6 = 308 };

struct set {
	uint32_t bits[BITS / 32];
};

struct time32 {
	int32_t sec, part;
};

static void put(struct set *set, int fd)
{
	set->bits[fd / 32] |= 1u << fd % 32;
}

static bool has(const struct set *set, int fd)
{
	return set->bits[fd / 32] >> fd % 32 & 1;
}

/* Opens all descriptors that are left. Returns the last one. */
static int fill(void)
{
	int fd, last = -1;

	while ((fd = dup(1)) >= 0)
		last = fd;
	CHECK(errno == EMFILE);
	return last;
}

static int nr_listed(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 3; /* without . and .., and without the directory's own */
}

static void all_are_open(void)
{
	int before = nr_listed(), ends[2];

	CHECK(sysconf(_SC_OPEN_MAX) == MOST && getdtablesize() == MOST);
	CHECK(fill() == LAST);
	FAILS(open("/dev/null", O_RDONLY), EMFILE);
	FAILS(pipe(ends), EMFILE);
	FAILS(fcntl(1, F_DUPFD, LAST), EMFILE);
	CHECK(!close(LAST) && !close(500) && !close(70));
	CHECK(nr_listed() == MOST - 3 && before < 64); /* one of the three was the directory's */
	CHECK(dup(1) == 70 && open("/dev/null", O_RDONLY) == 500 && dup(1) == LAST);
	FAILS(dup(1), EMFILE);
	for (int fd = 3; fd < MOST; fd++)
		CHECK(!close(fd));
	FAILS(close(LAST), EBADF);
	CHECK(nr_listed() == 3);
}

static void limits(void)
{
	struct rlimit few = { 300, MOST }, many = { MOST, MOST };

	CHECK(dup2(1, LAST) == LAST && fcntl(1, F_DUPFD, 1000) == 1000);
	FAILS(dup2(1, MOST), EBADF);
	FAILS(dup2(1, -1), EBADF);
	FAILS(fcntl(1, F_DUPFD, MOST), EINVAL);
	FAILS(close(MOST), EBADF);
	FAILS(fcntl(999, F_GETFD), EBADF);
	CHECK(!setrlimit(RLIMIT_NOFILE, &few) && getdtablesize() == 300);
	CHECK(fcntl(LAST, F_GETFD) == 0 && write(LAST, "", 0) == 0); /* what is open stays open */
	FAILS(dup2(1, 300), EBADF);
	FAILS(dup2(1, LAST), EBADF);
	CHECK(dup2(1, 299) == 299 && fill() == 298);
	CHECK(!setrlimit(RLIMIT_NOFILE, &many) && dup(1) == 300);
}

/* The child closes what the parent keeps; both move one position. */
static void fork_copies(void)
{
	int fd = open("/tmp/descriptors", O_RDWR | O_CREAT | O_TRUNC, 0600), high = dup2(fd, LAST);
	int status, pid;

	CHECK(dup2(1, 100) == 100 && write(high, "text", 4) == 4);
	pid = fork();
	if (!pid)
		_exit(lseek(LAST, 1, SEEK_SET) != 1 || close(100) || close(LAST) ||
		      dup2(1, 200) != 200);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(lseek(high, 0, SEEK_CUR) == 1 && !close(100) && !unlink("/tmp/descriptors"));
	FAILS(close(200), EBADF);
	CHECK(!close(high));
	pid = fork(); /* few are open: there are many places, but the child needs few */
	if (!pid)
		_exit(dup2(1, LAST) != LAST || close(LAST));
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

/* The program is started again: see after_exec. */
static void exec_closes(const char *self)
{
	int status, pid = fork();

	if (!pid) {
		for (int fd = 40; fd < MOST; fd += 41) {
			dup2(1, fd);
			fcntl(fd, F_SETFD, fd % 2 ? FD_CLOEXEC : 0);
		}
		dup3(1, LAST, O_CLOEXEC);
		execl(self, self, "exec", NULL);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

static int after_exec(void)
{
	for (int fd = 40; fd < MOST; fd += 41)
		CHECK((fcntl(fd, F_GETFD) == 0) == (fd % 2 == 0));
	FAILS(fcntl(LAST, F_GETFD), EBADF);
	CHECK(dup(1) < 40 && fcntl(1, F_DUPFD, LAST) == LAST);
	CHECK(fcntl(LAST, F_GETFD) == 0); /* a new descriptor has not the bit of the former */
	return nr_failures != 0;
}

/* A pipe whose ends have the two highest numbers. */
static void high_pipe(int ends[2])
{
	int fds[2];

	CHECK(!pipe(fds));
	for (int i = 0; i < 2; i++) {
		ends[i] = dup2(fds[i], LAST - 1 + i);
		close(fds[i]);
	}
}

static int both_selects(bool masked, int n, struct set *in, struct set *out)
{
	struct time32 now = { 0 };

	return syscall(masked ? PSELECT6 : NEWSELECT, n, in, out, NULL, &now, NULL);
}

static void selects(bool masked)
{
	struct set in = { 0 }, out = { 0 };
	int ends[2];

	high_pipe(ends);
	put(&in, ends[0]);
	put(&out, ends[1]);
	CHECK(both_selects(masked, MOST, &in, &out) == 1 && !has(&in, ends[0]) &&
	      has(&out, ends[1]));
	CHECK(write(ends[1], "x", 1) == 1);
	put(&in, ends[0]);
	put(&in, 1500); /* beyond the table: ignored, and not written back */
	for (int n = MOST; n <= BITS; n += n == MOST ? 1 : 341)
		CHECK(both_selects(masked, n, &in, &out) == 2 && has(&in, ends[0]) &&
		      has(&in, 1500));
	CHECK(both_selects(masked, INT32_MAX, &in, &out) == 2);
	CHECK(both_selects(masked, ends[0], &in, &out) == 0); /* both are beyond n */
	CHECK(!has(&in, ends[0]) && !has(&out, ends[1]) && has(&in, 1500));
	put(&in, 900);
	FAILS(both_selects(masked, MOST, &in, NULL), EBADF);
	CHECK(both_selects(masked, 900, &in, NULL) == 0);
	FAILS(both_selects(masked, MOST, (void *)0xC0100000, NULL), EFAULT);
	CHECK(!close(ends[0]) && !close(ends[1]));
}

static void polls(void)
{
	static struct pollfd p[MOST + 1];
	int ends[2];

	high_pipe(ends);
	for (int i = 0; i <= MOST; i++)
		p[i] = (struct pollfd){ .fd = i % 2 ? ends[1] : -1, .events = POLLOUT };
	p[3].fd = 900;
	p[MOST - 2] = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	CHECK(poll(p, MOST, 0) == MOST / 2 && p[LAST].revents == POLLOUT);
	CHECK(p[3].revents == POLLNVAL && !p[MOST - 2].revents && !p[2].revents);
	CHECK(write(ends[1], "x", 1) == 1);
	CHECK(poll(p, MOST, -1) == MOST / 2 + 1 && p[MOST - 2].revents == POLLIN);
	FAILS(poll(p, MOST + 1, 0), EINVAL);
	FAILS(poll((void *)0xC0100000, 500, 0), EFAULT);
	CHECK(!close(ends[0]) && !close(ends[1]));
}

int main(int argc, char **argv)
{
	struct rlimit most = { MOST, MOST };

	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 1, HELP);
	if (argc > 1)
		return after_exec();
	CHECK(!setrlimit(RLIMIT_NOFILE, &most));
	all_are_open();
	fork_copies();
	exec_closes(argv[0]);
	selects(false);
	selects(true);
	polls();
	limits();
	return check_report("descriptors");
}
