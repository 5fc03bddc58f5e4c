/*
 * wide: large copies between the kernel and memory that is unaligned, or of which some or all pages are missing, by
 * processes that keep values in SSE registers meanwhile. On Linux, too, this must report no failures.
 */
#include "check.h"
#include "lab.h"
#include <sys/mman.h>

#define HELP "usage: wide\n"

enum { PAGE = PAGE_SIZE_BYTES, BYTES = 16 * PAGE, ROUNDS = 40, PROCESSES = 3 };

static unsigned char expected[BYTES];

static void load_registers(uint32_t value)
{
	uint32_t words[4] = { value, value + 1, value + 2, ~value };

	__asm__ volatile(
		"movups %0, %%xmm0\n\tmovups %0, %%xmm1\n\tmovups %0, %%xmm7" ::"m"(words));
}

static bool registers_hold(uint32_t value)
{
	uint32_t words[3][4];

	__asm__ volatile("movups %%xmm0, %0\n\tmovups %%xmm1, %1\n\tmovups %%xmm7, %2"
			 : "=m"(words[0]), "=m"(words[1]), "=m"(words[2]));
	for (int n = 0; n < 3; n++)
		if (words[n][0] != value || words[n][1] != value + 1 || words[n][3] != ~value)
			return false;
	return true;
}

/* Reads into new pages, and writes from them, at unaligned offsets. */
static void copy_both_ways(int fd, uint32_t round)
{
	uint32_t offset = round * 37 % 61, length = BYTES - round * 511 % PAGE;
	unsigned char *pages = lab_map(BYTES / PAGE + 1), *to = pages + offset;
	int pair[2];

	load_registers(round);
	CHECK(pread(fd, to, length, 0) == (ssize_t)length);
	CHECK(registers_hold(round));
	CHECK(!memcmp(to, expected, length) && !to[length] && (!offset || !to[-1]));
	CHECK(!pipe(pair));
	load_registers(~round);
	CHECK(write(pair[1], to, 3 * PAGE) == 3 * PAGE &&
	      read(pair[0], pages + 5 * PAGE + 3, 3 * PAGE) == 3 * PAGE);
	CHECK(registers_hold(~round));
	CHECK(!memcmp(pages + 5 * PAGE + 3, expected, 3 * PAGE));
	CHECK(!close(pair[0]) && !close(pair[1]) && !munmap(pages, BYTES + PAGE));
}

/* Reads into two pages, the second of which may not be accessed: the bytes before it are copied. */
static void copy_to_an_edge(int fd)
{
	unsigned char *pages = lab_map(2);

	CHECK(!mprotect(pages + PAGE, PAGE, PROT_NONE));
	CHECK(pread(fd, pages, 2 * PAGE, 0) == PAGE && !memcmp(pages, expected, PAGE));
	FAILS(pread(fd, pages + PAGE, PAGE, 0), EFAULT);
	FAILS(pread(fd, (void *)0xC0100000, PAGE, 0), EFAULT);
	FAILS(pwrite(fd, pages + PAGE, PAGE, BYTES), EFAULT);
	CHECK(pwrite(fd, pages, 2 * PAGE, BYTES) == PAGE);
	CHECK(!munmap(pages, 2 * PAGE));
}

int main(int argc, char **argv)
{
	char name[] = "/tmp/wideXXXXXX";
	int fd, status;

	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	fd = mkstemp(name);
	for (int n = 0; n < BYTES; n++)
		expected[n] = n * 7 + n / 251;
	CHECK(pwrite(fd, expected, BYTES, 0) == BYTES && !unlink(name));
	for (uint32_t p = 0; p < PROCESSES; p++)
		if (!fork()) {
			for (uint32_t round = 0; round < ROUNDS; round++)
				copy_both_ways(fd, round + p * ROUNDS);
			_exit(nr_failures);
		}
	for (uint32_t p = 0; p < PROCESSES; p++)
		CHECK(wait(&status) > 0 && !status);
	copy_to_an_edge(fd);
	return check_report("wide");
}
