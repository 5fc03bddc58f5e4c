/*
 * library: processes share the text of a library, and memory is too small for it. For a machine of 8 MiB whose
 * programs may use a file system at /mnt.
 *
 * The library is a file of functions, one in each page; each returns its own number. Every process maps it as a
 * dynamic linker does, private and executable, calls functions in random order, and writes memory of its own. As on
 * Linux with PROT_EXEC, a call to a page with wrong content returns a wrong number, or ends the process. At the end
 * the file is cut short while it is mapped: a call behind its end is SIGBUS.
 */
#include "check.h"
#include "lab.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define HELP "usage: library\n"
#define PAGE PAGE_SIZE_BYTES

enum { PAGES = 512, PROCESSES = 3, CALLS = 1500, OWN = 768, SEED = 2463534242u >> 1 };

static const char path[] = "/mnt/library.so";
static sigjmp_buf after_fault;
static volatile int fault_signal;
static volatile long *text_faults; /* in shared memory: major faults of calls to the library */

/* mov $number, %eax; ret: at a place that differs from page to page. */
static uint32_t place_of(uint32_t page)
{
	return page * PAGE + page * 37 % (PAGE - 8);
}

static void make_library(void)
{
	static unsigned char page[PAGE];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0700);

	CHECK(fd >= 0);
	for (uint32_t i = 0; i < PAGES; i++) {
		unsigned char *code = page + place_of(i) % PAGE;
		uint32_t number = lab_word(i);

		memset(page, 0xCC, PAGE); /* int3 */
		code[0] = 0xB8;
		memcpy(code + 1, &number, sizeof(number));
		code[5] = 0xC3;
		CHECK(write(fd, page, PAGE) == PAGE);
	}
	CHECK(!fsync(fd) && !close(fd));
}

static char *map_library(void)
{
	int fd = open(path, O_RDONLY);
	char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	CHECK(at != MAP_FAILED && !close(fd));
	return at;
}

static uint32_t call(const char *library, uint32_t page)
{
	return ((uint32_t (*)(void))(uintptr_t)(library + place_of(page)))();
}

static long major_faults(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_majflt;
}

/* Returns true if each call returned the number of its function. */
static bool use_library(uint32_t seed)
{
	const char *library = map_library();
	uint32_t *own = lab_map(OWN);
	bool right = true;

	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t page = lab_random(&seed) % PAGES;
		long before = major_faults();

		right &= call(library, page) == lab_word(page);
		*text_faults += major_faults() - before;
		own[lab_random(&seed) % OWN * (PAGE / sizeof(*own))] = i;
	}
	return right;
}

static void test_processes_that_share(void)
{
	pid_t pids[PROCESSES];
	int status;

	text_faults = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(!use_library(SEED + i));
	}
	for (uint32_t i = 0; i < PROCESSES; i++) {
		status = -1;
		CHECK(waitpid(pids[i], &status, 0) == pids[i] && !status);
	}
	printf("major faults: %ld\n", *text_faults);
}

static void on_fault(int signal)
{
	fault_signal = signal;
	siglongjmp(after_fault, 1);
}

static void test_library_cut_short(void)
{
	const char *library = map_library();

	signal(SIGBUS, on_fault);
	CHECK(call(library, PAGES - 1) == lab_word(PAGES - 1));
	CHECK(!truncate(path, PAGES / 2 * PAGE));
	if (!sigsetjmp(after_fault, 1))
		call(library, PAGES - 1);
	CHECK(fault_signal == SIGBUS);
	CHECK(call(library, PAGES / 2 - 1) == lab_word(PAGES / 2 - 1));
	CHECK(!unlink(path) && call(library, 0) == lab_word(0));
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	make_library();
	test_processes_that_share();
	test_library_cut_short();
	return check_report("library");
}
