/*
 * seqscan: one array, read from end to end repeatedly.
 *
 * One word per page is read (and with w also written). With an array slightly larger than memory,
 * LRU misses on every page, although all but a few of them would fit: each page is evicted just
 * before its next use. A policy that retains some pages, or that detects the loop, misses only on
 * the excess. With enough work after each page, the processor and not the disk limits the scan.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: seqscan KB PASSES [w] [--work N] [--seed N]\n"                                     \
	"Fill an array of KB KiB, then read one word of every page in order, PASSES\n"             \
	"times; with w, write it too; with --work, make N empty loop turns after each page.\n"     \
	"The seed changes what is written, not where.\n"

static uint32_t nr_pages, work, seed;
static bool writes;

static uint32_t scan(void *array, uint32_t pass)
{
	uint32_t corrupt = 0;

	for (uint32_t k = 0; k < nr_pages; k++) {
		volatile uint32_t *word = lab_at(array, k, 0);

		corrupt += *word != lab_word(k) + seed + (writes ? pass : 0);
		if (writes)
			++*word;
		lab_work(work);
	}
	return corrupt;
}

int main(int argc, char **argv)
{
	uint64_t *pass_ns, start_ns, filled_ns, end_ns, t;
	uint32_t corrupt = 0;
	void *array;
	int passes;

	help_if_asked(argc, argv, HELP);
	seed = lab_option(&argc, argv, "--seed", 0, UINT32_MAX, 0);
	work = lab_option(&argc, argv, "--work", 0, UINT32_MAX, 0);
	lab_operands(argc, argv, 2, 3, HELP);
	nr_pages = lab_pages(argv, 1, "KB");
	passes = parse_number(argv[2], "PASSES", 1, 1000000);
	writes = argc > 3;
	if (writes && strcmp(argv[3], "w")) {
		warn_user("'%s' is not w, the only word after PASSES", argv[3]);
		return 2;
	}
	array = lab_map(nr_pages);

	start_ns = lab_now_ns();
	for (uint32_t k = 0; k < nr_pages; k++)
		*lab_at(array, k, 0) = lab_word(k) + seed;
	filled_ns = lab_now_ns();

	pass_ns = lab_times(passes);
	for (int pass = 0; pass < passes; pass++) {
		t = lab_now_ns();
		corrupt += scan(array, pass);
		pass_ns[pass] = lab_now_ns() - t;
	}
	end_ns = lab_now_ns();
	lab_spread("seqscan_pass", pass_ns, passes, nr_pages, "ns/page");
	printf("R seqscan kb=%u passes=%d fill_us=%llu scan_us=%llu corrupt=%u\n",
	       nr_pages * PAGE_KB, passes, lab_us(filled_ns - start_ns), lab_us(end_ns - filled_ns),
	       corrupt);
	return corrupt != 0;
}
