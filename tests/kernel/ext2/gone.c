/*
 * gone CASE: what a program observes of a disk that stops answering while it is used, or of memory that runs out.
 * /dev/sda is mounted at /mnt, the working directory; the case itself makes the disk fall silent (/proc/fail). Prints
 * nothing if all is as expected, otherwise the line that found a difference.
 */
#include "bus.h"
#include "check.h"

#include <sys/mman.h>

#define HELP "usage: gone CASE\nUse files in the working directory while their disk dies.\n"

enum { PAGE = 4096, FAR = 1 << 18, LIMIT_S = 30 };

static char page[PAGE];
/* Pages of this program that have not been touched yet. */
static const char far[FAR] = { [0] = 1, [FAR - 1] = 2 };

static void say(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) > 0 && !close(fd));
}

/* Evicts everything clean and unused; from now on the disk does not answer. */
static void silence(void)
{
	say("/proc/sys/vm/drop_caches", "3");
	say("/proc/fail", "mute:1");
}

/* Returns the seconds since the last call. */
static int elapsed(void)
{
	static time_t last;
	struct timespec now;
	int seconds;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = now.tv_sec - last;
	last = now.tv_sec;
	return seconds;
}

static void took_the_limit(int line)
{
	int seconds = elapsed();

	check(seconds >= LIMIT_S && seconds <= LIMIT_S + 1, __FILE__, line, "30 s have passed");
}

static void reading(void)
{
	int fd = open("f", O_RDONLY), other = open("s", O_RDONLY);

	CHECK(fd >= 0 && other >= 0);
	silence();
	elapsed();
	FAILS(read(fd, page, PAGE), EIO);
	took_the_limit(__LINE__);
	FAILS(pread(fd, page, PAGE, 2 * PAGE), EIO);
	FAILS(read(other, page, PAGE), EIO);
	CHECK(!elapsed());
}

static void mapped(void)
{
	int fd = open("f", O_RDWR);
	const char *at = mmap(NULL, 4 * PAGE, PROT_READ, MAP_SHARED, fd, 0);

	silence();
	elapsed();
	CHECK(peek(at) == -1);
	took_the_limit(__LINE__);
	CHECK(peek(at) == -1 && peek(at + PAGE) == -1);
}

/* A child runs this program and stops; when it continues, the next page of it cannot be read. */
static void running(void)
{
	int down[2], up[2], status;
	char c;

	CHECK(!pipe(down) && !pipe(up));
	if (!fork()) {
		dup2(down[0], 0);
		dup2(up[1], 1);
		execl("gone", "gone", "far", NULL);
		_exit(9);
	}
	CHECK(read(up[0], &c, 1) == 1);
	silence();
	CHECK(write(down[1], &c, 1) == 1);
	CHECK(wait(&status) > 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

static void far_away(void)
{
	volatile uint32_t half = FAR / 2;
	char c = 'x';

	signal(SIGBUS, SIG_DFL);
	CHECK(write(1, &c, 1) == 1 && read(0, &c, 1) == 1);
	CHECK(!far[half] && !far[half + PAGE * 8]);
}

/* Two open files of one file, one of another: each gets the error, and again as long as it persists. */
static void syncing(void)
{
	int a = open("a", O_CREAT | O_RDWR, 0644), again = open("a", O_RDWR),
	    b = open("b", O_CREAT | O_RDWR, 0644);

	CHECK(write(a, page, PAGE) == PAGE && !fsync(a) && !fsync(again) && !fsync(b));
	CHECK(pwrite(a, page, PAGE, 0) == PAGE);
	silence();
	elapsed();
	FAILS(fsync(a), EIO);
	took_the_limit(__LINE__);
	FAILS(fsync(again), EIO);
	CHECK(pread(again, page, PAGE, 0) == PAGE); /* the written data are not lost */
	CHECK(write(b, page, PAGE) == PAGE || errno == EIO);
	FAILS(fsync(b), EIO);
}

/* Temporary errors: each open file gets the error once, also one opened before any other had got it. */
static void told(void)
{
	int a = open("a", O_CREAT | O_RDWR, 0644), b = open("a", O_RDWR), c, d;

	CHECK(write(a, page, PAGE) == PAGE && !fsync(a) && !fsync(b));
	CHECK(pwrite(a, page, PAGE, 0) == PAGE);
	say("/proc/fail", "write:1");
	sync();
	sync();
	c = open("a", O_RDONLY);
	FAILS(fsync(a), EIO);
	d = open("a", O_RDONLY);
	CHECK(!fsync(a) && !fsync(d));
	FAILS(fsync(b), EIO);
	FAILS(fsync(c), EIO);
	CHECK(!fsync(b) && !fsync(c) && !close(a) && !close(b) && !close(c) && !close(d));
}

/* Leaves everything dirty. */
static void writing(void)
{
	int fd = open("w", O_CREAT | O_RDWR, 0644);

	for (int i = 0; i < 20; i++)
		CHECK(write(fd, page, PAGE) == PAGE);
	CHECK(!mkdir("d", 0755) && !rename("f", "d/f"));
	say("/proc/fail", "mute:1");
}

/* Closes an unlinked file while allocations fail for a time. */
static void freeing(void)
{
	int fd = open("f", O_RDONLY);

	CHECK(fd >= 0 && !unlink("f"));
	sync();
	say("/proc/sys/vm/drop_caches", "3");
	say("/proc/fail", "alloc:1-60");
	CHECK(!close(fd));
}

/* After an error is found, nothing may be changed: a hole of a mapping gets no block. */
static void hole(void)
{
	int fd = open("hole", O_CREAT | O_RDWR, 0644);
	volatile char *at;

	CHECK(fd >= 0 && !ftruncate(fd, 2 * PAGE));
	at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	at[0] = 'x';
	FAILS(open("hurt", O_RDONLY), EIO);
	CHECK(peek(at) == 'x' && peek(at + PAGE) == 0);
	if (!sigsetjmp(bus_error, 1)) {
		at[PAGE] = 'y';
		CHECK(!"written");
	}
	FAILS(access("hole", W_OK), EROFS);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "reading", reading }, { "mapped", mapped },   { "running", running },
	{ "far", far_away },    { "syncing", syncing }, { "told", told },
	{ "writing", writing }, { "freeing", freeing }, { "hole", hole },
};

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_bus };

	help_if_asked(argc, argv, HELP);
	sigaction(SIGBUS, &act, NULL);
	memset(page, 'p', sizeof(page));
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return nr_failures != 0;
		}
	usage_error(HELP);
}
