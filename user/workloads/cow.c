/*
 * cow: pages shared after fork, and copied one by one.
 *
 * Like a server that forks, or a shell: the parent fills an array, and each child has the same
 * pages until it writes to one (copy on write). A shared page is used by all children, which is a
 * reason to keep it; its frame becomes free only when it is unmapped everywhere. The children
 * reference pages at random. One reference in sixteen writes, so that each child gradually gets its
 * own pages, and the demand grows without any explicit allocation.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: cow NPROC KB REFS [WORK] [--seed N]\n"                                             \
	"Fill an array of KB KiB, then fork NPROC processes, each of which makes REFS random\n"    \
	"references to it, writes with one in sixteen, and makes WORK empty loop turns after\n"    \
	"each (default 0). Exit status 1 when data were corrupt or a process died.\n"

enum { DEFAULT_SEED = 362436069, MAX_PROCESSES = 64, WRITE_EVERY = 16 };

static uint32_t nr_pages, refs, work, seed;

/* Runs in a child. Returns the number of words that differ from what it, or the parent, wrote
 * last. */
static uint32_t run_child(void *array, int id)
{
	uint32_t random_state = seed + lab_word(id), corrupt = 0;
	uint16_t *written = lab_map(nr_pages / (2 * WORDS_PER_PAGE) + 1);

	random_state += !random_state;
	for (uint32_t r = 0; r < refs; r++) {
		uint32_t page = lab_random(&random_state) % nr_pages;
		volatile uint32_t *word = lab_at(array, page, 0);

		corrupt += *word != lab_word(page + id * written[page]) + written[page];
		if (r % WRITE_EVERY == 0) {
			written[page]++;
			*word = lab_word(page + id * written[page]) + written[page];
		}
		lab_work(work);
	}
	return corrupt;
}

static int start_children(pid_t *pids, int nr, void *array)
{
	for (int i = 0; i < nr; i++) {
		pids[i] = fork();
		if (pids[i] < 0) {
			warn_errno("fork");
			return i;
		}
		if (!pids[i])
			_exit(run_child(array, i + 1) != 0);
	}
	return nr;
}

/* Returns the number of children that did not exit with 0: corrupt data, or killed. */
static int reap_children(const pid_t *pids, int nr)
{
	int nr_failed = 0, status;

	for (int i = 0; i < nr; i++)
		nr_failed += waitpid(pids[i], &status, 0) != pids[i] || status;
	return nr_failed;
}

int main(int argc, char **argv)
{
	uint64_t start_ns, filled_ns, end_ns;
	pid_t pids[MAX_PROCESSES];
	int nr, nr_started, nr_failed;
	uint32_t corrupt = 0;
	void *array;

	help_if_asked(argc, argv, HELP);
	seed = lab_seed(&argc, argv, DEFAULT_SEED);
	lab_operands(argc, argv, 3, 4, HELP);
	nr = parse_number(argv[1], "NPROC", 1, MAX_PROCESSES);
	nr_pages = lab_pages(argv, 2, "KB");
	refs = parse_number(argv[3], "REFS", 1, INT32_MAX);
	work = argc > 4 ? parse_number(argv[4], "WORK", 0, INT32_MAX) : 0;
	array = lab_map(nr_pages);

	start_ns = lab_now_ns();
	for (uint32_t k = 0; k < nr_pages; k++)
		*lab_at(array, k, 0) = lab_word(k);
	filled_ns = lab_now_ns();
	nr_started = start_children(pids, nr, array);
	nr_failed = reap_children(pids, nr_started) + nr - nr_started;
	end_ns = lab_now_ns();
	for (uint32_t k = 0; k < nr_pages; k++)
		corrupt += *lab_at(array, k, 0) != lab_word(k);
	printf("R cow nproc=%d kb=%u refs=%u work=%u fill_us=%llu run_us=%llu failed=%d corrupt=%u\n",
	       nr, nr_pages * PAGE_KB, refs, work, lab_us(filled_ns - start_ns),
	       lab_us(end_ns - filled_ns), nr_failed, corrupt);
	return corrupt || nr_failed;
}
