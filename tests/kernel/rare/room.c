/* room: fallocate in a folder. Linux's file systems that know it must report no failures, either. */
#include "check.h"
#include "lab.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#define HELP "usage: room FOLDER\n"

enum { PAGE = 4096, KEEP_SIZE = 1, PUNCH_HOLE = 2 };

static int allocate(int fd, unsigned mode, int64_t start, int64_t length)
{
	return syscall(SYS_fallocate, fd, mode, (uint32_t)start, (uint32_t)(start >> 32),
		       (uint32_t)length, (uint32_t)(length >> 32));
}

static struct stat stat_of(int fd)
{
	struct stat st;

	CHECK(!fstat(fd, &st));
	return st;
}

static bool is_zero(int fd, off_t from, int n)
{
	char c;

	for (int i = 0; i < n; i++)
		if (pread(fd, &c, 1, from + i) != 1 || c)
			return false;
	return true;
}

static void grows(int fd)
{
	CHECK(pwrite(fd, "abc", 3, 0) == 3);
	CHECK(!allocate(fd, 0, 10, 20 * PAGE) && stat_of(fd).st_size == 10 + 20 * PAGE);
	CHECK(stat_of(fd).st_blocks > 20 * 8);
	CHECK(is_zero(fd, 3, 2 * PAGE) && is_zero(fd, 20 * PAGE - 100, 110));
	CHECK(!allocate(fd, 0, 0, 100) && stat_of(fd).st_size == 10 + 20 * PAGE);
}

/* Holes get blocks, data stay. */
static void fills_holes(int fd)
{
	char c = 0;

	CHECK(!ftruncate(fd, 0) && !ftruncate(fd, 50 * PAGE) && pwrite(fd, "x", 1, 30 * PAGE) == 1);
	CHECK(stat_of(fd).st_blocks < 20);
	CHECK(!allocate(fd, KEEP_SIZE, 20 * PAGE + 5, 20 * PAGE));
	CHECK(stat_of(fd).st_size == 50 * PAGE && stat_of(fd).st_blocks >= 21 * 8);
	CHECK(stat_of(fd).st_blocks < 40 * 8);
	CHECK(pread(fd, &c, 1, 30 * PAGE) == 1 && c == 'x' && is_zero(fd, 25 * PAGE, PAGE));
	CHECK(!fsync(fd));
}

static void refuses(int fd)
{
	int reads = open("room.file", O_RDONLY), folder = open(".", O_RDONLY), ends[2];

	CHECK(!pipe(ends));
	FAILS(allocate(reads, 0, 0, 1), EBADF);
	FAILS(allocate(60, 0, 0, 1), EBADF);
	FAILS(allocate(fd, 0, 0, 0), EINVAL);
	FAILS(allocate(fd, 0, -1, 1), EINVAL);
	FAILS(allocate(fd, 0, 0, -1), EINVAL);
	FAILS(allocate(fd, 0, INT64_MAX, 1), EFBIG);
	FAILS(allocate(fd, PUNCH_HOLE, 0, 1), EOPNOTSUPP); /* only with KEEP_SIZE */
	FAILS(allocate(fd, 0x100, 0, 1), EOPNOTSUPP);
	FAILS(allocate(ends[1], 0, 0, 1), ESPIPE);
	FAILS(allocate(folder, 0, 0, 1), EBADF);
	close(reads);
	close(folder);
	close(ends[0]);
	close(ends[1]);
}

static void keeps_to_the_limit(int fd)
{
	struct rlimit limit = { 10000, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	CHECK(!ftruncate(fd, 100) && !setrlimit(RLIMIT_FSIZE, &limit));
	FAILS(allocate(fd, 0, 0, 10001), EFBIG);
	CHECK(stat_of(fd).st_size == 100 && !allocate(fd, 0, 0, 10000));
	limit.rlim_cur = RLIM_INFINITY;
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
}

/* A device that is too small gets no part of the file. */
static void too_large(int fd)
{
	struct statfs fs;
	struct stat before;

	CHECK(!fstatfs(fd, &fs) && !ftruncate(fd, 5));
	before = stat_of(fd);
	if ((int64_t)fs.f_bfree * fs.f_bsize > 100 << 20)
		return;
	FAILS(allocate(fd, 0, 0, (int64_t)fs.f_bfree * fs.f_bsize + 20 * PAGE), ENOSPC);
	CHECK(stat_of(fd).st_size == 5 && stat_of(fd).st_blocks == before.st_blocks);
}

int main(int argc, char **argv)
{
	int fd;

	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 1, 1, HELP);
	CHECK(!chdir(argv[1]));
	fd = open("room.file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0);
	grows(fd);
	fills_holes(fd);
	refuses(fd);
	keeps_to_the_limit(fd);
	too_large(fd);
	CHECK(!unlink("room.file"));
	close(fd);
	return check_report("room");
}
