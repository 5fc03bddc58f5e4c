/*
 * selfproc: the files of /proc about the process that reads them, and the links to its descriptors. On Linux,
 * too, this must report no failures.
 */
#include "check.h"
#include "lab.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define HELP "usage: selfproc\n"

static char text[65536];

/* Reads a whole file into text. Returns its length, or -1. */
static int slurp(const char *path)
{
	int fd = open(path, O_RDONLY), n = 0, part;

	if (fd < 0)
		return -1;
	while ((part = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += part;
	close(fd);
	text[n] = '\0';
	return part < 0 ? -1 : n;
}

static const char *link_of(int fd)
{
	static char to[4096];
	char path[64];
	int n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, to, sizeof(to) - 1);
	to[n < 0 ? 0 : n] = '\0';
	return to;
}

static int reopen(int fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

static void regular_file(void)
{
	int fd = open("/tmp/selfproc.file", O_RDWR | O_CREAT | O_TRUNC, 0644), again, other;
	struct stat st, same;
	char c = 0;

	CHECK(write(fd, "abc", 3) == 3);
	CHECK(!strcmp(link_of(fd), "/tmp/selfproc.file"));
	again = reopen(fd, O_RDONLY);
	CHECK(again >= 0 && read(again, &c, 1) == 1 && c == 'a'); /* its own position */
	FAILS(write(again, "x", 1), EBADF);
	CHECK(!fstat(fd, &st) && !fstat(again, &same) && st.st_ino == same.st_ino);
	CHECK(!unlink("/tmp/selfproc.file"));
	CHECK(ends_with(link_of(fd), "(deleted)"));
	other = reopen(fd, O_RDWR | O_TRUNC);
	CHECK(other >= 0 && !fstat(fd, &st) && !st.st_size);
	FAILS(reopen(fd, O_RDONLY | O_NOFOLLOW), ELOOP);
	FAILS(reopen(fd, O_RDWR | O_CREAT | O_EXCL), EEXIST);
	FAILS(reopen(fd, O_RDONLY | O_DIRECTORY), ENOTDIR);
	close(fd);
	close(again);
	close(other);
	FAILS(reopen(fd, O_RDONLY), ENOENT);
}

static void modes_of_links(void)
{
	int fds[2];
	struct stat st;
	char path[64];

	CHECK(!pipe(fds));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	CHECK(!lstat(path, &st) && st.st_mode == (S_IFLNK | 0500) && st.st_size == 64);
	CHECK(!stat(path, &st) && S_ISFIFO(st.st_mode));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	CHECK(!lstat(path, &st) && st.st_mode == (S_IFLNK | 0300));
	CHECK(!strncmp(link_of(fds[0]), "pipe:[", 6) && !strcmp(link_of(fds[0]), link_of(fds[1])));
	close(fds[0]);
	close(fds[1]);
}

/* Both ends of a pipe can be opened again; reads and writes treat the new ends like the first
 * ones. */
static void ends_of_a_pipe(void)
{
	int fds[2], in, out, both;
	char c = 0;

	CHECK(!pipe(fds));
	out = reopen(fds[0], O_WRONLY); /* either link leads to the pipe */
	CHECK(out >= 0 && write(out, "p", 1) == 1);
	in = reopen(fds[1], O_RDONLY | O_NONBLOCK);
	CHECK(in >= 0 && read(in, &c, 1) == 1 && c == 'p');
	FAILS(read(in, &c, 1), EAGAIN);
	close(fds[1]);
	FAILS(read(in, &c, 1), EAGAIN); /* out is still open */
	close(out);
	CHECK(read(in, &c, 1) == 0);
	both = reopen(in, O_RDWR);
	CHECK(both >= 0 && write(both, "q", 1) == 1 && read(fds[0], &c, 1) == 1 && c == 'q');
	close(fds[0]);
	close(in);
	close(both);
}

/* Opens one end of a pipe whose other end is closed: this does not wait, as it would with a
 * FIFO. */
static void end_that_is_left(void)
{
	int fds[2], again;
	char c = 0;

	CHECK(!pipe(fds) && write(fds[1], "x", 1) == 1 && !close(fds[1]));
	again = reopen(fds[0], O_RDONLY);
	CHECK(again >= 0 && read(again, &c, 1) == 1 && c == 'x' && read(again, &c, 1) == 0);
	CHECK(!close(again) && !close(fds[0]) && !pipe(fds) && !close(fds[0]));
	signal(SIGPIPE, SIG_IGN);
	again = reopen(fds[1], O_WRONLY);
	CHECK(again >= 0 && !close(fds[1]));
	FAILS(write(again, "x", 1), EPIPE);
	CHECK(!close(again));
}

static void folder(void)
{
	int fd = open("/tmp", O_RDONLY | O_DIRECTORY), inside;
	char path[64];
	struct stat st, same;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/selfproc.in", fd);
	inside = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(inside >= 0 && !strcmp(link_of(inside), "/tmp/selfproc.in"));
	CHECK(!stat("/tmp/selfproc.in", &st) && !fstat(inside, &same) && st.st_ino == same.st_ino);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/..", fd);
	CHECK(!stat(path, &st) && !stat("/", &same) && st.st_ino == same.st_ino);
	CHECK(!stat("/proc/self/fd/..", &st) && !stat("/proc/self", &same));
	CHECK(st.st_ino == same.st_ino);
	CHECK(!unlink("/tmp/selfproc.in"));
	close(inside);
	close(fd);
}

static int count_entries(const char *path, const char *wanted)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)))
		n += !strcmp(e->d_name, wanted);
	if (dir)
		closedir(dir);
	return n;
}

static void listing(void)
{
	int fd = dup2(1, 37);

	CHECK(count_entries("/proc/self/fd", "37") == 1);
	CHECK(count_entries("/proc/self", "fd") == 1 && count_entries("/proc/self", "exe") == 1);
	close(fd);
	CHECK(count_entries("/proc/self/fd", "37") == 0);
	FAILS(open("/proc/self/fd/037", O_RDONLY), ENOENT);
	FAILS(open("/proc/self/fd/-1", O_RDONLY), ENOENT);
	FAILS(open("/proc/self/fd/99999999", O_RDONLY), ENOENT);
	FAILS(unlink("/proc/self/fd/1"), EPERM);
}

/* Reads a link of another process, which does not exist any more after that process has ended. */
static void of_a_child(void)
{
	int to_child[2], from_child[2], status;
	char path[64], name[256], c;
	pid_t pid;

	CHECK(!pipe(to_child) && !pipe(from_child));
	pid = fork();
	if (!pid) {
		c = dup2(1, 41) == 41 ? 'y' : 'n';
		write(from_child[1], &c, 1);
		_exit(read(to_child[0], &c, 1) != 1);
	}
	CHECK(read(from_child[0], &c, 1) == 1 && c == 'y');
	snprintf(path, sizeof(path), "/proc/%d/fd/41", pid);
	CHECK(readlink(path, name, sizeof(name)) > 0);
	CHECK(write(to_child[1], "e", 1) == 1 && waitpid(pid, &status, 0) == pid && !status);
	FAILS(readlink(path, name, sizeof(name)), ENOENT);
	for (int i = 0; i < 2; i++) {
		close(to_child[i]);
		close(from_child[i]);
	}
}

/* AT_EMPTY_PATH with AT_FDCWD means the working directory. */
static void empty_path(void)
{
	struct stat st, same;

	CHECK(!chdir("/tmp") && !stat("/tmp", &same));
	CHECK(!fstatat(AT_FDCWD, "", &st, AT_EMPTY_PATH) && st.st_ino == same.st_ino);
	CHECK(!fchownat(AT_FDCWD, "", -1, -1, AT_EMPTY_PATH));
	FAILS(fstatat(AT_FDCWD, "", &st, 0), ENOENT);
	FAILS(fstatat(60, "", &st, AT_EMPTY_PATH), EBADF);
}

static void where_it_is(void)
{
	char there[4096] = { 0 }, *end;
	struct stat st, same;

	CHECK(!chdir("/tmp") && readlink("/proc/self/cwd", there, sizeof(there)) == 4);
	CHECK(!strcmp(there, "/tmp"));
	CHECK(!stat("/proc/self/cwd", &st) && !stat("/tmp", &same) && st.st_ino == same.st_ino);
	CHECK(readlink("/proc/self/root", there, sizeof(there)) == 1 && there[0] == '/');
	memset(there, 0, sizeof(there));
	CHECK(readlink("/proc/self/exe", there, sizeof(there)) > 0 &&
	      ends_with(there, "/selfproc"));
	CHECK(!stat(there, &st) && !stat("/proc/self/exe", &same) && st.st_ino == same.st_ino);
	CHECK(slurp("/proc/self/comm") == 9 && !strcmp(text, "selfproc\n"));
	CHECK(slurp("/proc/self/stat") > 0 && atoi(text) == getpid());
	end = strrchr(text, ')');
	CHECK(end && end[2] == 'R' && atoi(end + 4) == getppid());
	CHECK(slurp("/proc/self/status") > 0 && strstr(text, "\nVmSize:") &&
	      strstr(text, "\nUid:\t"));
	CHECK(slurp("/proc/self/maps") > 0 && strstr(text, there) && strstr(text, "[stack]"));
	CHECK(slurp("/proc/self/statm") > 0 && atoi(text) > 0);
	CHECK(slurp("/proc/self/mounts") > 0 && strstr(text, " / ") &&
	      strstr(text, " /proc proc "));
	CHECK(slurp("/proc/self/mountinfo") > 0 && strstr(text, " - proc "));
}

static void about_the_machine(void)
{
	int n;

	CHECK(slurp("/proc/cpuinfo") > 0 && strstr(text, "processor\t: 0\n"));
	CHECK(strstr(text, "\nflags\t\t: fpu ") && strstr(text, "\nmodel name\t: "));
	CHECK(slurp("/proc/meminfo") > 0 && strstr(text, "MemAvailable:"));
	CHECK(slurp("/proc/sys/kernel/ostype") == 6 && !strcmp(text, "Linux\n"));
	CHECK(slurp("/proc/sys/kernel/osrelease") > 3 && atoi(text) >= 3);
	CHECK(slurp("/proc/sys/kernel/version") > 2 && text[0] == '#');
	CHECK(slurp("/proc/sys/kernel/hostname") > 1);
	CHECK(slurp("/proc/sys/kernel/pid_max") > 1 && atoi(text) >= 32768);
	n = slurp("/proc/sys/kernel/random/uuid");
	CHECK(n == 37 && text[8] == '-' && text[14] == '4' && text[23] == '-' && text[36] == '\n');
	CHECK(slurp("/proc/sys/kernel/random/boot_id") == 37);
}

/* Opens and reads the links to descriptors in /dev. */
static void names_of_descriptors(void)
{
	int fd = open("/dev/fd/1", O_WRONLY);
	char path[256] = { 0 };

	CHECK(fd >= 0);
	close(fd);
	CHECK(readlink("/dev/stdin", path, sizeof(path)) == 15 && !strcmp(path, "/proc/self/fd/0"));
}

/* Runs when selfproc executes itself, with known arguments and environment. */
static int second(void)
{
	CHECK(slurp("/proc/self/cmdline") == 18 && !memcmp(text, "selfproc\0again\0\0x", 18));
	CHECK(slurp("/proc/self/environ") == 8 && !memcmp(text, "A=1\0B=2", 8));
	return nr_failures != 0;
}

int main(int argc, char **argv)
{
	char *const arguments[] = { "selfproc", "again", "", "x", NULL };
	char *const environment[] = { "A=1", "B=2", NULL };
	int status;

	if (argc == 4)
		return second();
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	regular_file();
	modes_of_links();
	ends_of_a_pipe();
	end_that_is_left();
	folder();
	listing();
	of_a_child();
	if (!fork())
		_exit(execve("/proc/self/exe", arguments, environment));
	CHECK(wait(&status) > 0 && !status);
	empty_path();
	where_it_is();
	about_the_machine();
	names_of_descriptors();
	return check_report("selfproc");
}
