/*
 * moved: mremap moves mappings of every kind, and all users of their pages still find them, also after the pages
 * were evicted. For a machine of 12 MiB.
 */
#include "check.h"
#include "lab.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define HELP "usage: moved\n"
#define PAGE PAGE_SIZE_BYTES

enum { PAGES = 64, OTHERS = 3000, FAR = 0x50000000 };

static char *const far = (char *)FAR;

static char *map(uint32_t pages, int flags, int fd)
{
	char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void fill(char *at, uint32_t first, uint32_t pages, char with)
{
	for (uint32_t i = first; i < first + pages; i++)
		snprintf(at + i * PAGE, 32, "%c%u", with, i);
}

static int holds(const char *at, uint32_t first, uint32_t pages, char with)
{
	char expected[32];

	for (uint32_t i = first; i < first + pages; i++) {
		snprintf(expected, sizeof(expected), "%c%u", with, i);
		if (strcmp(at + i * PAGE, expected))
			return 0;
	}
	return 1;
}

/* Takes all memory, so that everything else is evicted, and gives it back. */
static void evict(void)
{
	char *others = map(OTHERS, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (int round = 0; round < 2; round++)
		memset(others, 'o', OTHERS * PAGE);
	CHECK(!munmap(others, OTHERS * PAGE));
}

static void wait_for_child(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

static char *move(char *from, uint32_t pages, char *to)
{
	char *at = mremap(from, pages * PAGE, pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);

	CHECK(at == to);
	return at;
}

static void test_present_and_swapped(int swapped)
{
	char *at = map(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1), *old = at;

	fill(at, 0, PAGES / 2, 'p');
	if (swapped)
		evict();
	at = move(at, PAGES, far);
	CHECK(mmap(old, PAGES * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == old);
	CHECK(!old[0] && !old[(PAGES / 2 - 1) * PAGE] && !at[(PAGES - 1) * PAGE]);
	fill(old, 0, PAGES, 'n');
	evict();
	CHECK(holds(at, 0, PAGES / 2, 'p') && holds(old, 0, PAGES, 'n'));
	at = move(at, PAGES, at + 2 * PAGES * PAGE);
	evict();
	CHECK(holds(at, 0, PAGES / 2, 'p'));
	CHECK(!munmap(at, PAGES * PAGE) && !munmap(old, PAGES * PAGE));
}

/* Two neighbours leave no space: the first one moves when it grows. */
static void test_growth_past_a_neighbour(void)
{
	char *at = map(2 * PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1), *moved;

	fill(at, 0, 2 * PAGES, 'g');
	FAILS(mremap(at, PAGES * PAGE, 3 * PAGES * PAGE, 0), ENOMEM);
	moved = mremap(at, PAGES * PAGE, 3 * PAGES * PAGE, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED && moved != at);
	CHECK(holds(moved, 0, PAGES, 'g') && !moved[(3 * PAGES - 1) * PAGE]);
	CHECK(holds(at, PAGES, PAGES, 'g'));
	FAILS(mremap(at, PAGE, PAGE, MREMAP_MAYMOVE), EFAULT);
	CHECK(!munmap(at + PAGES * PAGE, PAGES * PAGE) && !munmap(moved, 3 * PAGES * PAGE));
}

/* Parent and child share pages, move them to different places, and never see each other's writes. */
static void test_relatives(void)
{
	char *at = map(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1), *old = at;
	pid_t pid, second;

	fill(at, 0, PAGES, 'r');
	pid = fork();
	if (!pid) {
		at = move(at, PAGES, far + 4 * PAGES * PAGE);
		evict();
		CHECK(holds(at, 0, PAGES, 'r'));
		fill(at, 0, PAGES / 2, 'c');
		at = move(at, PAGES, far + 8 * PAGES * PAGE);
		evict();
		_exit(!(holds(at, 0, PAGES / 2, 'c') && holds(at, PAGES / 2, PAGES / 2, 'r')));
	}
	at = move(at, PAGES, far);
	CHECK(map(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1) != MAP_FAILED);
	evict();
	CHECK(holds(at, 0, PAGES, 'r'));
	fill(at, PAGES / 2, PAGES / 2, 'q');
	at = mremap(at, PAGES * PAGE, 2 * PAGES * PAGE, 0);
	CHECK(at == far);
	fill(at, PAGES, PAGES, 'h');
	second = fork();
	if (!second) {
		at = move(at + PAGE, PAGES, old);
		evict();
		_exit(!(holds(at - PAGE, 1, PAGES / 2 - 1, 'r') &&
			holds(at - PAGE, PAGES, 1, 'h')));
	}
	wait_for_child(pid);
	wait_for_child(second);
	evict();
	CHECK(holds(at, 0, PAGES / 2, 'r') && holds(at, PAGES / 2, PAGES / 2, 'q') &&
	      holds(at, PAGES, PAGES, 'h'));
	CHECK(!munmap(at, 2 * PAGES * PAGE));
}

/* A private mapping of a file with copies, and a shared one, both beginning inside the file. */
static void test_files(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *shared, *private, *second;

	CHECK(fd >= 0 && !ftruncate(fd, 2 * PAGES * PAGE));
	shared = map(2 * PAGES, MAP_SHARED, fd);
	private = map(2 * PAGES, MAP_PRIVATE, fd);
	fill(shared, 0, 2 * PAGES, 'f');
	fill(private, PAGES, PAGES / 2, 'd');
	private = move(private + PAGES * PAGE, PAGES, far) - PAGES * PAGE;
	shared = move(shared + PAGES * PAGE, PAGES, far + 4 * PAGES * PAGE) - PAGES * PAGE;
	evict();
	CHECK(holds(private, PAGES, PAGES / 2, 'd') && holds(shared, PAGES, PAGES, 'f'));
	CHECK(holds(private, PAGES + PAGES / 2, PAGES / 2, 'f'));
	fill(shared, PAGES, 1, 's');
	second = mremap(shared + PAGES * PAGE, 0, PAGES * PAGE, MREMAP_MAYMOVE);
	CHECK(second != MAP_FAILED && holds(second - PAGES * PAGE, PAGES, 1, 's'));
	FAILS(mremap(private + PAGES * PAGE, 0, PAGE, MREMAP_MAYMOVE), EINVAL);
	CHECK(!ftruncate(fd, PAGES * PAGE) && !ftruncate(fd, 2 * PAGES * PAGE));
	CHECK(!second[0] && !shared[PAGES * PAGE] && !private[PAGES * PAGE]);
	CHECK(!munmap(second, PAGES * PAGE) && !munmap(shared + PAGES * PAGE, PAGES * PAGE));
	CHECK(!munmap(private + PAGES * PAGE, PAGES * PAGE) && !close(fd) && !unlink(path));
}

static void test_shared_memory(void)
{
	char *at = map(PAGES, MAP_SHARED | MAP_ANONYMOUS, -1);
	pid_t pid;

	fill(at, 0, PAGES, 'm');
	pid = fork();
	if (!pid) {
		at = move(at, PAGES, far);
		evict();
		fill(at, 0, 1, 'w');
		_exit(!holds(at, 1, PAGES - 1, 'm'));
	}
	wait_for_child(pid);
	evict();
	CHECK(holds(at, 0, 1, 'w') && holds(at, 1, PAGES - 1, 'm'));
	CHECK(!munmap(at, PAGES * PAGE));
}

static void test_errors(void)
{
	const int to = MREMAP_MAYMOVE | MREMAP_FIXED;
	char *at = map(4, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memset(at, 'e', 4 * PAGE);
	FAILS(mremap(at, PAGE, PAGE, MREMAP_FIXED, far), EINVAL);
	FAILS(mremap(at, PAGE, PAGE, to, far + 1), EINVAL);
	FAILS(mremap(at, 2 * PAGE, 2 * PAGE, to, at + PAGE), EINVAL);
	FAILS(mremap(at, 2 * PAGE, 2 * PAGE, to, at - PAGE), EINVAL);
	FAILS(mremap(at, PAGE, PAGE, to, 0xFFFFF000u), EINVAL);
	FAILS(mremap(at, PAGE, 0xF0000000u, MREMAP_MAYMOVE), ENOMEM);
	FAILS(mremap(at, PAGE, PAGE, 8 | MREMAP_MAYMOVE), EINVAL);
	CHECK(!munmap(at + 2 * PAGE, PAGE));
	FAILS(mremap(at, 4 * PAGE, 5 * PAGE, MREMAP_MAYMOVE), EFAULT);
	FAILS(mremap(at + 2 * PAGE, PAGE, PAGE, to, far), EFAULT);
	CHECK(at[0] == 'e' && at[2 * PAGE - 1] == 'e' && at[3 * PAGE] == 'e');
	CHECK(!munmap(at, 4 * PAGE));
}

/* mremap unmaps what lay at the destination, also if it covers only a part of a region; a locked region
 * stays locked. */
static void test_replaced_and_locked(void)
{
	char *at = map(4, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	char *to = map(6, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	fill(at, 0, 4, 'l');
	fill(to, 0, 6, 't');
	CHECK(!mlock(at, 4 * PAGE));
	CHECK(mremap(at, 4 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to + PAGE) ==
	      to + PAGE);
	CHECK(holds(to, 0, 1, 't') && holds(to, 3, 3, 't') && holds(to + PAGE, 0, 2, 'l'));
	FAILS(madvise(to + PAGE, PAGE, MADV_DONTNEED), EINVAL);
	evict();
	CHECK(holds(to, 3, 3, 't') && holds(to + PAGE, 0, 2, 'l'));
	CHECK(!munmap(to, 6 * PAGE));
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	test_errors();
	test_present_and_swapped(0);
	test_present_and_swapped(1);
	test_growth_past_a_neighbour();
	test_relatives();
	test_files("/tmp/moved");
	if (!access("/mnt/moved",
		    F_OK)) /* the file system from which the test starts this program */
		test_files("/mnt/file");
	test_shared_memory();
	test_replaced_and_locked();
	return check_report("moved");
}
