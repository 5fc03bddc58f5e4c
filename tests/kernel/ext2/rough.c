/*
 * rough CASE: unusual operations on files in the working directory. Prints nothing if all is as on
 * Linux, where the same program must print nothing, too; otherwise the line that found a difference.
 */
#include "bus.h"
#include "check.h"
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#define HELP "usage: rough CASE [N]\nDo what is seldom done to files in the working directory.\n"
#define PAGE 4096u

static int number;

static int poke(volatile char *at, char c)
{
	return sigsetjmp(bus_error, 1) ? -1 : (*at = c);
}

static int make(const char *name, const char *text, size_t size)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0755);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(!ftruncate(fd, size));
	return fd;
}

static char *map(int fd, size_t size, int how)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, how, fd, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

/* The end of a file moves under mappings of both kinds. */
static void truncated(void)
{
	int fd = make("t", "abc", 3 * PAGE);
	char *all = map(fd, 4 * PAGE, MAP_SHARED), *own = map(fd, 4 * PAGE, MAP_PRIVATE);

	CHECK(poke(all + PAGE, 'x') == 'x' && poke(own + PAGE, 'y') == 'y');
	CHECK(peek(all + 3 * PAGE) == -1 && peek(own + 3 * PAGE) == -1);
	CHECK(poke(own + 2, 'q') == 'q' && peek(all + 2) == 'c');
	CHECK(!ftruncate(fd, 1));
	CHECK(peek(all) == 'a' && peek(all + 2) == 0 && peek(own + 2) == 'q');
	CHECK(peek(all + PAGE) == -1 && peek(own + PAGE) == -1 && poke(all + PAGE, 'z') == -1);
	CHECK(poke(all + 5, 'n') == 'n'); /* behind the end: not part of the file */
	CHECK(!ftruncate(fd, 3 * PAGE));
	CHECK(peek(all + 5) == 0);
	CHECK(peek(all + PAGE) == 0 && peek(own + PAGE) == 0 && poke(all + 2 * PAGE, 'w') == 'w');
	CHECK(peek(own + 2 * PAGE) == 'w' && pwrite(fd, "v", 1, 2 * PAGE) == 1);
	CHECK(peek(all + 2 * PAGE) == 'v' && peek(own + 2 * PAGE) == 'v');
	CHECK(!munmap(all, 4 * PAGE) && !munmap(own, 4 * PAGE) && !close(fd));
}

/* A file without a name lives as long as it is mapped. */
static void unlinked(void)
{
	int fd = make("u", "abc", 2 * PAGE);
	char *all = map(fd, 2 * PAGE, MAP_SHARED), c;

	CHECK(!close(fd) && !unlink("u"));
	CHECK(peek(all + 1) == 'b' && poke(all + PAGE, 'x') == 'x');
	sync();
	CHECK(peek(all + PAGE) == 'x' && !munmap(all, 2 * PAGE));
	fd = make("old", "old", 3);
	CHECK(!close(make("new", "new", 3)) && !rename("new", "old"));
	CHECK(pread(fd, &c, 1, 0) == 1 && c == 'o' && write(fd, "more", 4) == 4 && !close(fd));
	fd = open("old", O_RDONLY);
	CHECK(pread(fd, &c, 1, 0) == 1 && c == 'n' && !close(fd));
}

static int wait_child(pid_t pid)
{
	int status = -1;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

/* Two processes write to each page, each to its half, word by word. */
static void writers(void)
{
	uint32_t word, pages = number;
	int fd = make("w", "", 0);
	pid_t pid = fork();

	for (uint32_t at = pid ? 0 : PAGE / 2; at < pages * PAGE; at += PAGE)
		for (uint32_t i = at; i < at + PAGE / 2; i += 4)
			CHECK(pwrite(fd, &i, 4, i) == 4);
	if (!pid)
		_exit(nr_failures != 0);
	CHECK(wait_child(pid) == 0 && !fsync(fd));
	for (uint32_t i = 0; i < pages * PAGE; i += 4)
		if (pread(fd, &word, 4, i) != 4 || word != i)
			CHECK(false);
	CHECK(!close(fd));
}

/* One process appends in odd pieces, the other writes the file back. */
static void growing(void)
{
	int fd = make("g", "", 0);
	struct stat st = { .st_size = 0 };
	static char piece[777];
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < number; i++)
			CHECK(!fsync(fd));
		_exit(nr_failures != 0);
	}
	for (int i = 0; i < number; i++) {
		memset(piece, 'a' + i % 26, sizeof(piece));
		CHECK(write(fd, piece, sizeof(piece)) == sizeof(piece));
	}
	CHECK(wait_child(pid) == 0 && !fstat(fd, &st) && st.st_size == number * 777);
	for (int i = 0; i < number; i++)
		CHECK(pread(fd, piece, 777, i * 777) == 777 && piece[0] == 'a' + i % 26 &&
		      piece[776] == piece[0]);
	CHECK(!close(fd));
}

/* One process writes a page back, another truncates it meanwhile, and a third waits to write to it. */
static void cut(void)
{
	int fd = make("cut", "", PAGE);
	char *all = map(fd, PAGE, MAP_SHARED);
	pid_t pid[2];

	for (int who = 0; who < 2; who++) {
		pid[who] = fork();
		for (int i = 0; !pid[who] && i < number; i++)
			CHECK(who ? !fsync(fd) : !ftruncate(fd, 0) && !ftruncate(fd, PAGE));
		if (!pid[who])
			_exit(nr_failures != 0);
	}
	for (int i = 0; i < 50 * number; i++, sched_yield())
		poke(all, 'x');
	CHECK(wait_child(pid[0]) == 0 && wait_child(pid[1]) == 0 && poke(all, 'y') == 'y');
	CHECK(!munmap(all, PAGE) && !close(fd));
}

static void copy(const char *from, const char *to)
{
	static char buf[1 << 16];
	int in = open(from, O_RDONLY), there = open(to, O_CREAT | O_TRUNC | O_WRONLY, 0755);
	ssize_t n;

	CHECK(in >= 0 && there >= 0);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		CHECK(write(there, buf, n) == n);
	CHECK(!close(in) && !close(there));
}

static pid_t start(const char *name)
{
	pid_t pid = fork();

	if (!pid) {
		execl(name, "rough", "nothing", NULL);
		_exit(errno);
	}
	return pid;
}

/* Also through a mapping: a shared writable one prevents execution, a private one is not affected. */
static void mapped(void)
{
	int fd = open("x", O_RDWR);
	char *all = map(fd, PAGE, MAP_SHARED), *own, c;

	CHECK(!close(fd) && wait_child(start("./x")) == ETXTBSY << 8);
	CHECK(!mprotect(all, PAGE, PROT_READ) && wait_child(start("./x")) == ETXTBSY << 8);
	CHECK(!munmap(all, PAGE) && wait_child(start("./x")) == 0);
	fd = open("x", O_RDONLY);
	all = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	own = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	FAILS(mprotect(all, PAGE, PROT_READ | PROT_WRITE), EACCES);
	CHECK(!mprotect(own, PAGE, PROT_READ | PROT_WRITE) && poke(own, 'w') == 'w' &&
	      all[0] == 0x7f);
	CHECK(!close(fd) && !munmap(all, PAGE) && !munmap(own, PAGE));
	fd = open("x", O_WRONLY | O_RDWR); /* neither for reading nor for writing */
	FAILS(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0), EACCES);
	FAILS(read(fd, &c, 1), EBADF);
	FAILS(write(fd, &c, 1), EBADF);
	FAILS(ftruncate(fd, 1), EINVAL);
	CHECK(!close(fd));
}

/* A file that is being executed cannot be written to. */
static void running(void)
{
	int fd, go[2];
	pid_t pid;

	copy("/proc/self/exe", "x");
	fd = open("x", O_WRONLY);
	CHECK(fd >= 0 && wait_child(start("./x")) == ETXTBSY << 8 && !close(fd));
	mapped();
	CHECK(!pipe(go));
	pid = fork();
	if (!pid) {
		dup2(go[0], 0);
		close(go[1]);
		execl("./x", "rough", "waiting", NULL);
		_exit(99);
	}
	usleep(50000);
	FAILS(open("x", O_WRONLY), ETXTBSY);
	FAILS(truncate("x", 0), ETXTBSY);
	CHECK(!unlink("x"));
	sync();
	CHECK(write(go[1], "x", 1) == 1 && wait_child(pid) == 0);
}

/* Changes names and sizes. Returns false if that fails. */
static bool change(int i)
{
	char name[16], moved[16];
	int fd;

	snprintf(name, sizeof(name), "c%d", i);
	snprintf(moved, sizeof(moved), "m%d", i);
	if (mkdir(name, 0755) || rename(name, moved) || (i % 2 && rmdir(moved)))
		return false;
	fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
	return fd >= 0 && !ftruncate(fd, 3000) && !close(fd) && !truncate(name, 1) &&
	       !link(name, "other") && !unlink("other") && (i % 3 || !unlink(name));
}

/* The file system becomes read-only during changes. A process that maps a file for writing prevents that. */
static void closing(void)
{
	pid_t pid = fork();
	char *all;
	int fd;

	if (!pid) {
		for (int i = 0; change(i); i++)
			usleep(i % 8 * 300);
		_exit(errno != EROFS);
	}
	fd = make("mapped", "", PAGE);
	all = map(fd, PAGE, MAP_SHARED);
	CHECK(!close(fd) && !usleep(20000));
	FAILS(mount("", ".", "", MS_REMOUNT | MS_RDONLY, NULL), EBUSY);
	CHECK(!munmap(all, PAGE));
	while (mount("", ".", "", MS_REMOUNT | MS_RDONLY, NULL)) {
		CHECK(errno == EBUSY);
		usleep(1000);
	}
	CHECK(wait_child(pid) == 0);
}

/* Two processes share an open file: one moves its position while the other's call waits for the disk. */
static void position(void)
{
	static char buf[16 * PAGE];
	int from = make("from", "", sizeof(buf)), to = make("to", "", 0);
	pid_t pid;

	CHECK(write(from, buf, sizeof(buf)) == sizeof(buf) && !fsync(from));
	CHECK(!posix_fadvise(from, 0, 0, POSIX_FADV_DONTNEED) && lseek(from, 0, SEEK_SET) == 0);
	pid = fork();
	for (int i = 0; i < 20; i++) {
		char *all = map(from, sizeof(buf), MAP_PRIVATE);

		for (int n = 0; !pid && n < 200; n++, sched_yield())
			CHECK(lseek(from, n * 96, SEEK_SET) == n * 96 &&
			      lseek(to, n * 96, SEEK_SET) == n * 96);
		if (pid) {
			ssize_t done = read(from, buf, PAGE);

			CHECK(write(to, all, sizeof(buf)) == sizeof(buf));
			CHECK(done >= 0 && done <= (ssize_t)PAGE);
			CHECK(!posix_fadvise(from, 0, 0, POSIX_FADV_DONTNEED));
		}
		munmap(all, sizeof(buf));
	}
	if (!pid)
		_exit(nr_failures != 0);
	CHECK(wait_child(pid) == 0 && !close(from) && !close(to));
}

static void deep(void)
{
	for (int i = 0; i < number; i++)
		CHECK(!mkdir("d", 0755) && !chdir("d"));
	CHECK(!close(make("leaf", "x", 1)) && !unlink("leaf"));
	for (int i = 0; i < number; i++)
		CHECK(!chdir("..") && !rmdir("d"));
}

static void many(void)
{
	char name[32];

	CHECK(!mkdir("many", 0755) && !chdir("many"));
	for (int i = 0; i < number; i++) {
		snprintf(name, sizeof(name), "file-%d", i);
		CHECK(!close(open(name, O_CREAT | O_EXCL | O_WRONLY, 0644)));
	}
	for (int i = 0; i < number; i += 7) {
		snprintf(name, sizeof(name), "file-%d", i);
		CHECK(!access(name, F_OK) && !unlink(name));
		FAILS(access(name, F_OK), ENOENT);
	}
}

/* The disk fails: each caller gets the error once. */
static void failing(void)
{
	static char page[PAGE];
	int fd = open("f", O_RDWR);

	CHECK(fd >= 0 && pwrite(fd, page, PAGE, 0) == (ssize_t)PAGE);
	FAILS(fsync(fd), EIO);
	CHECK(!fsync(fd) && !close(fd));
}

/* All processes fill the disk, and all memory that they can get, until nothing fits any more. */
static void bomb(void)
{
	static char page[16 * PAGE];

	for (int n = 0; n < number; n++) {
		char name[32];
		int fd;

		if (fork())
			continue;
		snprintf(name, sizeof(name), "b%d", n);
		fd = open(name, O_CREAT | O_RDWR, 0644);
		for (int i = 0; i < 40 && fd >= 0; i++) {
			char *own = map(fd, sizeof(page), i & 1 ? MAP_SHARED : MAP_PRIVATE);

			memset(page, n + i, sizeof(page));
			if (write(fd, page, sizeof(page)) < 0)
				CHECK(errno == ENOSPC);
			for (uint32_t at = 0; at < sizeof(page); at += PAGE)
				if (poke(own + at, n) == -1)
					break;
			if (i % 5 == 4)
				CHECK(!ftruncate(fd, i * 5000));
			munmap(own, sizeof(page));
		}
		_exit(nr_failures != 0);
	}
	for (int n = 0, status; n < number; n++)
		CHECK(wait(&status) > 0 && !status);
}

static void nothing(void)
{
}

static void waiting(void)
{
	char c;

	CHECK(read(0, &c, 1) == 1);
}

static const struct {
	const char *name;
	void (*run)(void);
	int number;
} cases[] = {
	{ "truncated", truncated, 0 }, { "unlinked", unlinked, 0 }, { "writers", writers, 20 },
	{ "growing", growing, 100 },   { "running", running, 0 },   { "deep", deep, 50 },
	{ "many", many, 300 },         { "failing", failing, 0 },   { "bomb", bomb, 8 },
	{ "closing", closing, 0 },     { "position", position, 0 }, { "nothing", nothing, 0 },
	{ "waiting", waiting, 0 },     { "cut", cut, 20 },
};

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_bus };

	help_if_asked(argc, argv, HELP);
	sigaction(SIGBUS, &act, NULL);
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			number = argc > 2 ? atoi(argv[2]) : cases[i].number;
			cases[i].run();
			return nr_failures != 0;
		}
	usage_error(HELP);
}
