/*
 * pattern: random references to one array, by one of three distributions.
 *
 *	zipf        page k with frequency 1 / (k + 1): keeping the most frequent would be best
 *	correlated  bursts: a page is used four times, alternating with two others, and then left to
 *	            chance; half of the bursts go to a tenth of the pages. A policy that counts each
 *	            use in a burst takes it for popularity (O'Neil, O'Neil and Weikum, LRU-K, 1993;
 *	            Johnson and Shasha, 2Q, 1994)
 *	scan        a tenth of the pages is hot, and is used at random by every second reference; the
 *	            others are read in order, cyclically: pages used once should not
 *	            displace the hot pages
 *
 * `tidemark sim` generates its strings by the same distributions; here a program uses them, on page
 * tables and with a disk. One reference in four writes.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: pattern zipf|correlated|scan KB REFS [WORK] [--seed N]\n"                          \
	"Fill an array of KB KiB, then make REFS references to its pages after that law,\n"        \
	"and check what they find; WORK empty loop turns after each (default 0).\n"

enum { DEFAULT_SEED = 88172645, HOT_PART = 10, WRITE_EVERY = 4, OPEN_BURSTS = 3, USES = 4 };

static uint32_t nr_pages, nr_hot, work, random_state;
static uint16_t *written; /* by page: number of writes */

/* --- the distributions: the page of reference @turn --- */

/* By rank: the sum of the weights up to it. The scale keeps the sum for 3 GiB within 32 bits. */
static uint32_t *zipf_sums;

static void zipf_setup(void)
{
	const uint32_t scale = 1 << 27;
	uint32_t sum = 0;

	zipf_sums = lab_map(nr_pages / WORDS_PER_PAGE + 1);
	for (uint32_t rank = 0; rank < nr_pages; rank++)
		zipf_sums[rank] = sum += scale / (rank + 1);
}

/* Ranks are scattered over the array, so that readahead does not bring in popular neighbours. */
static uint32_t zipf_page(uint32_t turn)
{
	const uint32_t prime = 7919;
	uint32_t x = lab_random(&random_state) % zipf_sums[nr_pages - 1], low = 0, high = nr_pages;

	(void)turn;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (zipf_sums[middle] <= x)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint64_t)low * prime % nr_pages;
}

static uint32_t correlated_page(uint32_t turn)
{
	static struct {
		uint32_t page, uses_left;
	} bursts[OPEN_BURSTS];
	uint32_t i = turn % OPEN_BURSTS;

	if (!bursts[i].uses_left) {
		uint32_t x = lab_random(&random_state);

		bursts[i].page = (x >> 1) % (x % 2 ? nr_hot : nr_pages);
		bursts[i].uses_left = USES;
	}
	bursts[i].uses_left--;
	return bursts[i].page;
}

static uint32_t scan_page(uint32_t turn)
{
	if (turn % 2 == 0)
		return lab_random(&random_state) % nr_hot;
	return nr_hot + turn / 2 % (nr_pages - nr_hot);
}

static const struct law {
	const char *name;
	void (*setup)(void);
	uint32_t (*page)(uint32_t turn);
} laws[] = {
	{ "zipf", zipf_setup, zipf_page },
	{ "correlated", NULL, correlated_page },
	{ "scan", NULL, scan_page },
};

static const struct law *find_law(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(laws); i++)
		if (!strcmp(laws[i].name, name))
			return &laws[i];
	warn_user("'%s' is not a law", name);
	usage_error(HELP);
}

/* --- the run --- */

/* Writes come in pairs: of a scan's references, every second is to a hot page. */
static uint32_t run(const struct law *law, void *array, uint32_t refs)
{
	uint32_t corrupt = 0;

	for (uint32_t turn = 0; turn < refs; turn++) {
		uint32_t page = law->page(turn);
		volatile uint32_t *word = lab_at(array, page, 0);

		corrupt += *word != lab_word(page) + written[page];
		if (turn / 2 % WRITE_EVERY == 0)
			*word = lab_word(page) + ++written[page];
		lab_work(work);
	}
	return corrupt;
}

int main(int argc, char **argv)
{
	uint64_t start_ns, filled_ns, end_ns;
	const struct law *law;
	uint32_t refs, corrupt;
	void *array;

	help_if_asked(argc, argv, HELP);
	random_state = lab_seed(&argc, argv, DEFAULT_SEED);
	lab_operands(argc, argv, 3, 4, HELP);
	law = find_law(argv[1]);
	nr_pages = lab_pages(argv, 2, "KB");
	refs = parse_number(argv[3], "REFS", 1, INT32_MAX);
	work = argc > 4 ? parse_number(argv[4], "WORK", 0, INT32_MAX) : 0;
	nr_hot = nr_pages > HOT_PART ? nr_pages / HOT_PART : 1;
	array = lab_map(nr_pages);
	written = lab_map(nr_pages / (2 * WORDS_PER_PAGE) + 1);
	if (law->setup)
		law->setup();

	start_ns = lab_now_ns();
	for (uint32_t k = 0; k < nr_pages; k++)
		*lab_at(array, k, 0) = lab_word(k);
	filled_ns = lab_now_ns();
	corrupt = run(law, array, refs);
	end_ns = lab_now_ns();
	printf("R pattern law=%s kb=%u refs=%u work=%u fill_us=%llu run_us=%llu corrupt=%u\n",
	       law->name, nr_pages * PAGE_KB, refs, work, lab_us(filled_ns - start_ns),
	       lab_us(end_ns - filled_ns), corrupt);
	return corrupt != 0;
}
