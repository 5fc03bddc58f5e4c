/* hog: takes memory and keeps it, as the load for another measurement. */
#include "lab.h"

#define HELP                                                                                       \
	"usage: hog KB [SECONDS] [--seed N]\n"                                                     \
	"Write to every page of KB KiB, say when all are held, keep them for SECONDS\n"            \
	"(0 or none: until killed), then check what they hold.\n"

int main(int argc, char **argv)
{
	uint32_t nr_pages, seed, corrupt = 0;
	long seconds;
	void *array;
	uint64_t t;

	help_if_asked(argc, argv, HELP);
	seed = lab_option(&argc, argv, "--seed", 0, UINT32_MAX, 0);
	lab_operands(argc, argv, 1, 2, HELP);
	nr_pages = lab_pages(argv, 1, "KB");
	seconds = argc > 2 ? parse_number(argv[2], "SECONDS", 0, INT32_MAX / 1000) : 0;

	array = lab_map(nr_pages);
	t = lab_now_ns();
	for (uint32_t k = 0; k < nr_pages; k++)
		*lab_at(array, k, 0) = lab_word(k + seed);
	t = lab_now_ns() - t;
	printf("hog: holds %u KiB\n", nr_pages * PAGE_KB);
	fflush(stdout);
	do {
		sleep(seconds ? seconds : 3600);
	} while (!seconds);

	for (uint32_t k = 0; k < nr_pages; k++)
		corrupt += *lab_at(array, k, 0) != lab_word(k + seed);
	printf("R hog kb=%u seconds=%ld fill_us=%llu corrupt=%u\n", nr_pages * PAGE_KB, seconds,
	       lab_us(t), corrupt);
	return corrupt != 0;
}
