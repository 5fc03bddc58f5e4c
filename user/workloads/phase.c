/*
 * phase: a locality that moves.
 *
 * Programs work for a while in a small set of pages and then, suddenly, in another one (Denning and
 * Kahn, A study of program locality and lifetime functions, 1975). A phase here makes REFS random
 * references inside a window; one in 64 goes anywhere in the array instead, and one in four writes.
 * Then the window jumps. The workload shows how fast a policy evicts the old window, and how much
 * the stray references mislead it.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: phase TOTAL_KB WINDOW_KB PHASES REFS [--stray N] [--seed N]\n"                     \
	"Fill an array of TOTAL_KB KiB, then make PHASES times REFS random references\n"           \
	"inside a window of WINDOW_KB KiB that moves after each phase. One reference in N\n"       \
	"(a power of two, by default 64; 0: none) goes anywhere in the array.\n"

enum { DEFAULT_SEED = 88172645, WRITTEN_WORD = 7, MAX_STRAY = 1 << 30 };

static uint32_t nr_pages, window, stray_mask, random_state;

static uint32_t run_phase(void *array, uint32_t first, uint32_t refs)
{
	uint32_t corrupt = 0;

	for (uint32_t r = 0; r < refs; r++) {
		uint32_t x = lab_random(&random_state);
		bool stray = (x & stray_mask) == 0, writes = (x >> 6) % 4 == 0;
		uint32_t page = stray ? (x >> 6) % nr_pages : first + (x >> 6) % window;

		corrupt += *lab_at(array, page, 0) != page;
		if (writes)
			*lab_at(array, page, WRITTEN_WORD) = x;
	}
	return corrupt;
}

/* Returns N - 1, or all ones for 0: no random number is 0. */
static uint32_t mask_of(uint32_t stray)
{
	if (stray & (stray - 1)) {
		warn_user("--stray takes a power of two, or 0");
		exit(2);
	}
	return stray - 1;
}

int main(int argc, char **argv)
{
	uint64_t *phase_ns, start_ns, filled_ns, end_ns, t;
	uint32_t corrupt = 0, first = 0, refs;
	void *array;
	int phases;

	help_if_asked(argc, argv, HELP);
	random_state = lab_seed(&argc, argv, DEFAULT_SEED);
	stray_mask = mask_of(lab_option(&argc, argv, "--stray", 0, MAX_STRAY, 64));
	lab_operands(argc, argv, 4, 4, HELP);
	nr_pages = lab_pages(argv, 1, "TOTAL_KB");
	window = lab_pages(argv, 2, "WINDOW_KB");
	phases = parse_number(argv[3], "PHASES", 1, 1000000);
	refs = parse_number(argv[4], "REFS", 1, INT32_MAX);
	if (window > nr_pages) {
		warn_user("the window is larger than the array");
		return 2;
	}
	array = lab_map(nr_pages);

	start_ns = lab_now_ns();
	for (uint32_t k = 0; k < nr_pages; k++)
		*lab_at(array, k, 0) = k;
	filled_ns = lab_now_ns();

	phase_ns = lab_times(phases);
	for (int i = 0; i < phases; i++) {
		t = lab_now_ns();
		corrupt += run_phase(array, first, refs);
		phase_ns[i] = lab_now_ns() - t;
		first = nr_pages == window ? 0 : lab_random(&random_state) % (nr_pages - window);
	}
	end_ns = lab_now_ns();
	lab_spread("phase_ref", phase_ns, phases, refs, "ns");
	printf("R phase kb=%u window_kb=%u phases=%d refs=%u fill_us=%llu run_us=%llu corrupt=%u\n",
	       nr_pages * PAGE_KB, window * PAGE_KB, phases, refs, lab_us(filled_ns - start_ns),
	       lab_us(end_ns - filled_ns), corrupt);
	return corrupt != 0;
}
