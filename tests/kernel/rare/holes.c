/*
 * holes: reading the holes of a file in memory through a mapping takes no memory, and a write fills only its page.
 * The file, in the folder given, is larger than memory.
 */
#include "check.h"
#include "lab.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define HELP "usage: holes FOLDER\n"

enum { PAGE = 4096, PAGES = 16384 };

static long blocks_of(int fd)
{
	struct stat st;

	CHECK(!fstat(fd, &st));
	return st.st_blocks;
}

static bool all_zero(const char *p, int from, int to)
{
	for (int i = from; i < to; i++)
		if (p[i * PAGE] || p[i * PAGE + PAGE - 1])
			return false;
	return true;
}

/* What one mapping writes, the other sees, also where it has read a hole before. */
static void written_holes(int fd, char *p)
{
	char *q = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0), c = 0;
	char *own = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	CHECK(all_zero(q, 0, 100) && all_zero(own, 0, 4));
	p[7 * PAGE] = 'a';
	CHECK(q[7 * PAGE] == 'a' && all_zero(q, 0, 7) && all_zero(q, 8, 100));
	CHECK(pwrite(fd, "b", 1, 9 * PAGE) == 1 && p[9 * PAGE] == 'b' && q[9 * PAGE] == 'b');
	own[2 * PAGE] = 'c';
	CHECK(!p[2 * PAGE] && own[2 * PAGE] == 'c');
	p[3 * PAGE] = 'd';
	CHECK(own[3 * PAGE] == 'd' && blocks_of(fd) == 3 * 8);
	CHECK(!ftruncate(fd, 8 * PAGE) && !ftruncate(fd, PAGES * PAGE));
	CHECK(q[7 * PAGE] == 'a' && all_zero(q, 8, 100) && all_zero(p, 8, 100));
	CHECK(pread(fd, &c, 1, 7 * PAGE) == 1 && c == 'a' && blocks_of(fd) == 2 * 8);
	munmap(q, PAGES * PAGE);
	munmap(own, 4 * PAGE);
}

static void after_a_fork(char *p)
{
	int status;

	CHECK(all_zero(p, 200, 210));
	if (!fork()) {
		p[205 * PAGE] = 'x';
		_exit(!all_zero(p, 200, 205));
	}
	CHECK(wait(&status) > 0 && !status && p[205 * PAGE] == 'x' && all_zero(p, 206, 210));
}

static void locked(char *p)
{
	CHECK(all_zero(p, 300, 302) && !mlock(p + 300 * PAGE, 2 * PAGE));
	p[300 * PAGE] = 'l';
	CHECK(p[300 * PAGE] == 'l' && !p[301 * PAGE] && !munlock(p + 300 * PAGE, 2 * PAGE));
	CHECK(!mprotect(p + 300 * PAGE, 2 * PAGE, PROT_READ) && p[300 * PAGE] == 'l');
	CHECK(!mprotect(p + 300 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE));
	p[301 * PAGE] = 'm';
	CHECK(p[301 * PAGE] == 'm');
}

int main(int argc, char **argv)
{
	int fd;
	char *p;

	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 1, 1, HELP);
	CHECK(!chdir(argv[1]));
	fd = open("holes.file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && !unlink("holes.file") && !ftruncate(fd, PAGES * PAGE));
	p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED && all_zero(p, 0, PAGES) && blocks_of(fd) == 0);
	written_holes(fd, p);
	after_a_fork(p);
	locked(p);
	munmap(p, PAGES * PAGE);
	close(fd);
	return check_report("holes");
}
