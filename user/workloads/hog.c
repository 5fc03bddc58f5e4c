/*
 * hog: takes memory and keeps it, as the load for another measurement.
 *
 * With --lock its pages are locked, so that the others have that much less memory, whatever the
 * policy does: the memory-adjusting process of S. Jiang and X. Zhang (TPF, Software: Practice and
 * Experience 32(3), 2002, section 3.1). With --once it ends as soon as every page is written: a
 * child that evicts others' pages and never reads its own. With --huge its memory consists of pages of
 * 4 MiB (MAP_HUGETLB), which are never replaced.
 */
#include "lab.h"

#include <sys/mman.h>

#define HELP                                                                                       \
	"usage: hog KB [SECONDS] [--lock] [--once] [--huge] [--seed N]\n"                          \
	"Write to every page of KB KiB, say when all are held, keep them for SECONDS\n"            \
	"(0 or none: until killed), then check what they hold. --lock: lock them in memory.\n"     \
	"--once: end after the writes instead, without a check. --huge: in pages of 4 MiB.\n"

static void *map_huge(uint32_t nr_pages)
{
	void *p = mmap(NULL, (size_t)nr_pages * PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (p == MAP_FAILED)
		die_errno("mmap");
	return p;
}

static uint32_t count_corrupt(void *array, uint32_t nr_pages, uint32_t seed)
{
	uint32_t corrupt = 0;

	for (uint32_t k = 0; k < nr_pages; k++)
		corrupt += *lab_at(array, k, 0) != lab_word(k + seed);
	return corrupt;
}

int main(int argc, char **argv)
{
	uint32_t nr_pages, seed, corrupt = 0;
	long seconds;
	bool lock, once, huge;
	void *array;
	uint64_t t;

	help_if_asked(argc, argv, HELP);
	seed = lab_option(&argc, argv, "--seed", 0, UINT32_MAX, 0);
	lock = lab_flag(&argc, argv, "--lock");
	once = lab_flag(&argc, argv, "--once");
	huge = lab_flag(&argc, argv, "--huge");
	lab_operands(argc, argv, 1, once ? 1 : 2, HELP);
	nr_pages = lab_pages(argv, 1, "KB");
	seconds = argc > 2 ? parse_number(argv[2], "SECONDS", 0, INT32_MAX / 1000) : 0;

	array = huge ? map_huge(nr_pages) : lab_map(nr_pages);
	if (lock && mlock(array, (size_t)nr_pages * PAGE_SIZE_BYTES))
		die_errno("mlock");
	t = lab_now_ns();
	for (uint32_t k = 0; k < nr_pages; k++)
		*lab_at(array, k, 0) = lab_word(k + seed);
	t = lab_now_ns() - t;
	printf("hog: holds %u KiB\n", nr_pages * PAGE_KB);
	fflush(stdout);
	if (!once) {
		do {
			sleep(seconds ? seconds : 3600);
		} while (!seconds);
		corrupt = count_corrupt(array, nr_pages, seed);
	}
	printf("R hog kb=%u seconds=%ld fill_us=%llu checked=%u corrupt=%u\n", nr_pages * PAGE_KB,
	       seconds, lab_us(t), once ? 0 : nr_pages, corrupt);
	return corrupt != 0;
}
