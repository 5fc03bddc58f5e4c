/*
 * swapped: pages in the swap area are read before their use if a program advises so, and free their slots if slots are
 * scarce. For a machine of 12 MiB with a swap area of 8 MiB.
 */
#include "check.h"
#include "lab.h"

#include <sys/resource.h>

#define HELP "usage: swapped\n"
#define PAGE PAGE_SIZE_BYTES

enum { SHARED = 256, OTHERS = 2560, LARGE = 3400, SLACK = 128 };

/* Returns the number after the first occurrence of these words in a file of /proc. */
static long number_in(const char *path, const char *word)
{
	static char text[8192];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	const char *at;

	CHECK(n > 0 && !close(fd));
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, word);
	CHECK(at);
	return at ? atol(at + strlen(word)) : 0;
}

static long major_faults(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_majflt;
}

/* Displaces the pages with other memory, which is then freed; returns the number of major faults after that. */
static long faults_after(char *at, int advice)
{
	volatile char *others = lab_map(OTHERS);
	long before;
	int sum = 0;

	/* Written three times, because a policy may spare pages that were used since the last round. */
	for (int i = 0; i < 3 * OTHERS; i++)
		others[i % OTHERS * PAGE] = 'o';
	CHECK(!munmap((char *)others, OTHERS * PAGE));
	CHECK(!madvise(at, SHARED * PAGE, advice) && !usleep(200000));
	before = major_faults();
	for (int i = 0; i < SHARED; i++)
		sum += ((volatile char *)at)[i * PAGE];
	CHECK(sum == SHARED * 's');
	return major_faults() - before;
}

static void test_shared_memory_that_will_be_needed(void)
{
	char *at = mmap(NULL, SHARED * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);

	memset(at, 's', SHARED * PAGE);
	CHECK(faults_after(at, MADV_NORMAL) > SHARED / 16);
	CHECK(faults_after(at, MADV_WILLNEED) < SHARED / 64);
	CHECK(!munmap(at, SHARED * PAGE));
}

/* With more than half of the slots in use, a page is either in memory or has a slot. */
static void test_slots_are_few(void)
{
	long had = number_in("/proc/vmstat", "nr_swap_free "), used, resident;
	volatile char *at = lab_map(LARGE);
	int sum = 0;

	memset((char *)at, 'p', LARGE * PAGE);
	for (int i = 0; i < 2 * LARGE; i++)
		sum += at[i % LARGE * PAGE];
	CHECK(sum == 2 * LARGE * 'p');
	used = had - number_in("/proc/vmstat", "nr_swap_free ");
	resident = number_in("/proc/self/statm", " ");
	/* Between the two readings some pages get a slot and are evicted, and slots of other programs are freed. */
	CHECK(used + resident > LARGE - SLACK && used + resident < LARGE + SLACK);
	if (used + resident <= LARGE - SLACK || used + resident >= LARGE + SLACK)
		printf("swapped: %ld pages have slots, %ld are in memory\n", used, resident);
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	test_shared_memory_that_will_be_needed();
	test_slots_are_few();
	return check_report("swapped");
}
