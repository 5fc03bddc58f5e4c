/*
 * direct: tests of files and devices with O_DIRECT, past the cache, between the disk and this program's
 * pages. Prints nothing if all is as on Linux, where the same program must print nothing, too; otherwise
 * prints the line that found a difference.
 */
#include "check.h"
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define HELP "usage: direct CASE [N]\nRead and write the file `file` past the cache.\n"
#define PAGE 4096u
#define SECTOR 512u
#define PAGES 48u
#define FIRST (12 * PAGE)

static char *buf, *other; /* PAGES each, followed by a page without access rights */
static int number;

static char *pages(uint32_t nr, int how)
{
	char *at = mmap(NULL, (nr + 1) * PAGE, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED && !mprotect(at + nr * PAGE, PAGE, PROT_NONE));
	return at;
}

static void fill(char *at, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i += 4)
		*(uint32_t *)(at + i) = (i + seed) * 2654435761u;
}

static bool holds(const char *at, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i += 4)
		if (*(uint32_t *)(at + i) != (i + seed) * 2654435761u)
			return false;
	return true;
}

static bool zero(const char *at, uint32_t n)
{
	while (n && !at[n - 1])
		n--;
	return !n;
}

static int get(int flags)
{
	int fd = open("file", O_RDWR | O_CREAT | flags, 0644);

	CHECK(fd >= 0);
	return fd;
}

/* Data written past the cache are read through it, and the other way round. */
static void both(void)
{
	int direct = get(O_DIRECT | O_TRUNC), plain = get(0);

	fill(buf, PAGES * PAGE, 1);
	CHECK(write(direct, buf, PAGES * PAGE) == PAGES * PAGE);
	CHECK(pread(plain, other, PAGES * PAGE, 0) == PAGES * PAGE);
	CHECK(holds(other, PAGES * PAGE, 1));
	fill(other, PAGE, 2);
	CHECK(pwrite(plain, other, 1000, 3 * PAGE + 100) == 1000);
	CHECK(pread(direct, buf + SECTOR, 2 * PAGE, 3 * PAGE) == 2 * PAGE);
	CHECK(!memcmp(buf + SECTOR + 100, other, 1000));
	fill(buf, 3 * SECTOR, 3);
	CHECK(pwrite(direct, buf, 3 * SECTOR, 5 * SECTOR) == 3 * SECTOR);
	CHECK(pread(plain, other, 3 * SECTOR, 5 * SECTOR) == 3 * SECTOR);
	CHECK(holds(other, 3 * SECTOR, 3));
	CHECK(!close(direct) && !close(plain));
}

/* Holes, the end of the file, and what lies behind it. */
static void ends(void)
{
	int direct = get(O_DIRECT | O_TRUNC), plain = get(0);

	CHECK(pwrite(plain, "x", 1, 9 * PAGE + 99) == 1);
	memset(buf, 'b', PAGES * PAGE);
	CHECK(pread(direct, buf, 20 * PAGE, 0) == 9 * PAGE + 100);
	CHECK(zero(buf, 9 * PAGE + 99) && buf[9 * PAGE + 99] == 'x');
	CHECK(pread(direct, buf, SECTOR, 10 * PAGE) == 0);
	fill(buf, 8 * PAGE, 4);
	CHECK(pwrite(direct, buf, 2 * PAGE, PAGE) == 2 * PAGE);
	CHECK(pwrite(direct, buf, 4 * PAGE, 8 * PAGE) == 4 * PAGE);
	CHECK(pwrite(direct, buf, SECTOR, 14 * PAGE) == SECTOR);
	CHECK(lseek(direct, 0, SEEK_END) == 14 * PAGE + SECTOR);
	CHECK(pread(plain, other, 15 * PAGE, 0) == 14 * PAGE + SECTOR);
	CHECK(zero(other, PAGE) && holds(other + PAGE, 2 * PAGE, 4));
	CHECK(zero(other + 3 * PAGE, 5 * PAGE) && holds(other + 8 * PAGE, 4 * PAGE, 4));
	CHECK(zero(other + 12 * PAGE, 2 * PAGE) && holds(other + 14 * PAGE, SECTOR, 4));
	CHECK(!fcntl(plain, F_SETFL, O_APPEND | O_DIRECT));
	CHECK(fcntl(plain, F_GETFL) & O_DIRECT && write(plain, buf, PAGE) == PAGE);
	CHECK(!ftruncate(plain, 100));
	FAILS(write(plain, buf, PAGE), EINVAL);
	CHECK(!ftruncate(plain, 0) && write(plain, buf, PAGE) == PAGE);
	CHECK(!close(direct) && !close(plain));
}

static void refused(void)
{
	int fd = get(O_DIRECT | O_TRUNC), more, ends[2];
	struct iovec two[2] = { { buf, PAGE }, { buf + PAGE, SECTOR + 1 } };

	CHECK(pwrite(fd, buf, 4 * PAGE, 0) == 4 * PAGE);
	FAILS(pread(fd, buf + 4, PAGE, 0), EINVAL);
	FAILS(pread(fd, buf, PAGE, 4), EINVAL);
	FAILS(pread(fd, buf, PAGE + 4, 0), EINVAL);
	FAILS(pwrite(fd, buf + 256, PAGE, 0), EINVAL);
	FAILS(pwrite(fd, buf, PAGE, 511), EINVAL);
	FAILS(pwrite(fd, buf, 1, 0), EINVAL);
	CHECK(pread(fd, buf + SECTOR, SECTOR, SECTOR) == SECTOR && pread(fd, buf, 0, 3) == 0);
	CHECK(!readv(fd, two, 0));
	CHECK(!fcntl(fd, F_SETFL, 0) && pread(fd, buf + 4, 3, 4) == 3 && !close(fd));
	FAILS(open(".", O_RDONLY | O_DIRECT | O_DIRECTORY), EINVAL);
	FAILS(open("/dev/null", O_RDONLY | O_DIRECT), EINVAL);
	FAILS(open("/proc/uptime", O_RDONLY | O_DIRECT), EINVAL);
	more = open("/dev/null", O_RDONLY);
	FAILS(fcntl(more, F_SETFL, O_DIRECT), EINVAL);
	CHECK(!close(more) && !pipe(ends) && !close(ends[0]) && !close(ends[1]));
}

/* A mapping of the file sees data written past the cache, and reads past the cache see its changes. */
static void mapped(void)
{
	int fd = get(O_DIRECT | O_TRUNC);
	char *map;

	fill(buf, 8 * PAGE, 5);
	CHECK(write(fd, buf, 8 * PAGE) == 8 * PAGE);
	map = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED && holds(map, 8 * PAGE, 5));
	fill(map, PAGE, 6);
	CHECK(pread(fd, other, 8 * PAGE, 0) == 8 * PAGE);
	CHECK(holds(other, PAGE, 6) && !memcmp(other + PAGE, buf + PAGE, 7 * PAGE));
	fill(map + 7 * PAGE, PAGE, 7);
	fill(buf, 8 * PAGE, 8);
	CHECK(pwrite(fd, buf, 7 * PAGE, 0) == 7 * PAGE);
	CHECK(holds(map, 7 * PAGE, 8) && holds(map + 7 * PAGE, PAGE, 7));
	/* the mapping is the buffer, of another place in its own file */
	CHECK(pwrite(fd, map + 7 * PAGE, PAGE, 0) == PAGE && holds(map, PAGE, 7));
	CHECK(pread(fd, map + 2 * PAGE, 2 * PAGE, 6 * PAGE) == 2 * PAGE);
	CHECK(holds(map + 3 * PAGE, PAGE, 7) && !munmap(map, 8 * PAGE) && !fsync(fd));
	CHECK(pread(fd, buf, PAGE, 3 * PAGE) == PAGE && holds(buf, PAGE, 7) && !close(fd));
}

/* Buffers that cannot be read or written. */
static void faults(void)
{
	int fd = get(O_DIRECT | O_TRUNC);
	char *end = buf + PAGES * PAGE, *fixed;
	ssize_t n;

	CHECK(write(fd, buf, 8 * PAGE) == 8 * PAGE);
	FAILS(pread(fd, end, PAGE, 0), EFAULT);
	FAILS(pwrite(fd, end, PAGE, 0), EFAULT);
	FAILS(pread(fd, (void *)0xC0000000, PAGE, 0), EFAULT);
	n = pread(fd, end - PAGE, 2 * PAGE, 0); /* Linux: all or nothing */
	CHECK(n == PAGE || (n == -1 && errno == EFAULT));
	n = pwrite(fd, end - PAGE, 2 * PAGE, 8 * PAGE);
	CHECK(n == PAGE || (n == -1 && errno == EFAULT));
	CHECK(lseek(fd, 0, SEEK_END) == 8 * PAGE + (n > 0 ? n : 0));
	fixed = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FAILS(pread(fd, fixed, PAGE, 0), EFAULT);
	CHECK(pwrite(fd, fixed, PAGE, 0) == PAGE && pread(fd, buf, PAGE, 0) == PAGE);
	CHECK(zero(buf, PAGE) && !munmap(fixed, PAGE) && !close(fd));
}

/* After a fork the buffer is shared until either process writes to it. */
static void forked(void)
{
	int fd = get(O_DIRECT | O_TRUNC), status, go[2];
	pid_t pid;
	char c;

	fill(buf, 4 * PAGE, 9);
	CHECK(write(fd, buf, 4 * PAGE) == 4 * PAGE && !pipe(go));
	fill(buf, 4 * PAGE, 10);
	pid = fork();
	if (!pid) {
		CHECK(read(go[0], &c, 1) == 1 && holds(buf, 4 * PAGE, 10));
		_exit(nr_failures != 0);
	}
	CHECK(pread(fd, buf, 4 * PAGE, 0) == 4 * PAGE && holds(buf, 4 * PAGE, 9));
	CHECK(write(go[1], "x", 1) == 1 && waitpid(pid, &status, 0) == pid && !status);
	CHECK(holds(buf, 4 * PAGE, 9) && !close(fd));
}

/* N pages, private or shared, exceed memory: the buffer's pages are swapped in and out. */
static void swapped(void)
{
	int fd = get(O_DIRECT | O_TRUNC), n = number * (int)PAGE;

	for (int pass = 0; pass < 4; pass++) {
		char *big = pages(number, pass & 1 ? MAP_SHARED : MAP_PRIVATE);

		fill(big, n, pass);
		CHECK(pwrite(fd, big, n, 0) == n);
		memset(big, pass, n);
		CHECK(pread(fd, big, n, 0) == n && holds(big, n, pass));
		CHECK(!munmap(big, n + PAGE));
	}
	CHECK(!close(fd));
}

/* Other processes access the file all the time, through a mapping and through the cache: the pages that
 * they bring into the cache while the file is written do not stay there. */
static void together(void)
{
	int fd = get(O_DIRECT | O_TRUNC), plain = get(0), status;
	pid_t looking[2];
	char *map;
	volatile char *seen; /* the compiler may not end a loop that only looks */

	CHECK(write(fd, buf, PAGES * PAGE) == PAGES * PAGE);
	seen = map = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	for (int who = 0; who < 2; who++) {
		looking[who] = fork();
		for (uint32_t at = 0; !looking[who]; at = (at + 5 * PAGE) % (PAGES * PAGE))
			if (who ? pread(plain, other, PAGE, at) != PAGE : seen[at] > 'z')
				_exit(1);
	}
	for (int i = 0; i < number; i++) {
		memset(buf, 'a' + i % 26, PAGES * PAGE);
		CHECK(pwrite(fd, buf, PAGES * PAGE, 0) == PAGES * PAGE);
		CHECK(!memcmp(map, buf, PAGES * PAGE));
		CHECK(pread(plain, other, PAGES * PAGE, 0) == PAGES * PAGE);
		CHECK(!memcmp(other, buf, PAGES * PAGE));
	}
	for (int who = 0; who < 2; who++)
		CHECK(!kill(looking[who], SIGKILL) && wait(&status) > 0 && status == SIGKILL);
	CHECK(!close(fd) && !close(plain));
}

/* The Nth request from now on fails. */
static void fail(const char *which)
{
	int fd = open("/proc/fail", O_WRONLY);

	CHECK(fd >= 0 && write(fd, which, strlen(which)) == (ssize_t)strlen(which) && !close(fd));
}

/*
 * Only here, where a block has the size of a page: the first request ends before the first indirect
 * block. What precedes the failed request is done, and the next call reports the error.
 */
static void failing(void)
{
	int fd = get(O_DIRECT | O_TRUNC);
	struct stat st;

	fail("write:1");
	FAILS(pwrite(fd, buf, PAGES * PAGE, 0), EIO);
	CHECK(!fstat(fd, &st) && !st.st_size && !st.st_blocks);
	fail("write:2");
	CHECK(pwrite(fd, buf, PAGES * PAGE, 0) == FIRST);
	CHECK(!fstat(fd, &st) && st.st_size == FIRST);
	CHECK(pwrite(fd, buf, PAGES * PAGE, 0) == PAGES * PAGE);
	fail("read:1");
	FAILS(pread(fd, buf, PAGE, 0), EIO);
	fail("read:2");
	CHECK(pread(fd, buf, PAGES * PAGE, 0) == FIRST);
	CHECK(pread(fd, buf, PAGES * PAGE, 0) == PAGES * PAGE && !close(fd));
}

static const struct {
	const char *name;
	void (*run)(void);
	int number;
} cases[] = {
	{ "both", both, 0 },         { "ends", ends, 0 },          { "refused", refused, 0 },
	{ "mapped", mapped, 0 },     { "faults", faults, 0 },      { "forked", forked, 0 },
	{ "swapped", swapped, 100 }, { "together", together, 20 }, { "failing", failing, 0 },
};

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	buf = pages(PAGES, MAP_PRIVATE);
	other = pages(PAGES, MAP_PRIVATE);
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			number = argc > 2 ? atoi(argv[2]) : cases[i].number;
			cases[i].run();
			return nr_failures != 0;
		}
	usage_error(HELP);
}
