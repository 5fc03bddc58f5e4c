/*
 * dbscan: a table in a file, its index in another file, and random look-ups, with table scans
 * between.
 *
 * The index is a tree, a tenth of the table: one root page, inner pages, leaves, each with the
 * numbers of pages of the next level. A look-up reads a page of each level and a page of the table.
 * The pages of the index are worth keeping, those of the table hardly: it has ten times as many,
 * and all are equally likely. With SCAN, that number of table pages is read in order after each
 * look-up, like a report that runs beside the orders. (J. Tucek's thesis on Linux's memory manager,
 * 2007, section 6, after O'Neil's example for LRU-K.)
 *
 *	PATH.index: root | inner pages | leaves		PATH: the table's pages
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: dbscan PATH TABLE_KB LOOKUPS [SCAN] [--seed N]\n"                                  \
	"Make a table of TABLE_KB KiB and its index, PATH.index; then look LOOKUPS random\n"       \
	"pages up. After each, read SCAN pages of the table in order (default 0).\n"

enum { DEFAULT_SEED = 88172645, FANOUT = 32, BATCHES = 20 };

static uint32_t nr_table, nr_leaves, nr_inner, per_leaf, random_state, scan, scan_at;
static int table, index_file, scan_file;

static void lay_out(uint32_t nr_pages)
{
	nr_table = nr_pages;
	nr_leaves = nr_table / 10 ? nr_table / 10 : 1;
	per_leaf = (nr_table + nr_leaves - 1) / nr_leaves;
	nr_inner = (nr_leaves + FANOUT - 1) / FANOUT;
	if (nr_inner > WORDS_PER_PAGE) {
		warn_user("the table is too large");
		exit(2);
	}
}

/* Writes a page of the index: child i is page first + i of the level below. */
static void put_node(uint32_t page, uint32_t first)
{
	uint32_t words[WORDS_PER_PAGE];

	for (uint32_t i = 0; i < WORDS_PER_PAGE; i++)
		words[i] = first + i;
	if (pwrite(index_file, words, PAGE_SIZE_BYTES, (off_t)page * PAGE_SIZE_BYTES) !=
	    PAGE_SIZE_BYTES)
		die_errno("write");
}

static void make_index(const char *path)
{
	index_file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (index_file < 0)
		die_errno(path);
	put_node(0, 1);
	for (uint32_t i = 0; i < nr_inner; i++)
		put_node(1 + i, 1 + nr_inner + i * FANOUT);
	for (uint32_t i = 0; i < nr_leaves; i++)
		put_node(1 + nr_inner + i, i * per_leaf);
	if (fsync(index_file))
		die_errno("fsync");
	posix_fadvise(index_file, 0, 0, POSIX_FADV_DONTNEED);
}

static uint32_t child(uint32_t page, uint32_t i)
{
	uint32_t word;

	if (pread(index_file, &word, sizeof(word), (off_t)page * PAGE_SIZE_BYTES + i * 4) != 4)
		die_errno("read");
	return word;
}

static uint32_t look_up(uint32_t k)
{
	uint32_t leaf = k / per_leaf, words[WORDS_PER_PAGE], page;

	page = child(child(child(0, leaf / FANOUT), leaf % FANOUT), k % per_leaf);
	lab_file_read(table, page, words);
	return lab_file_check(words, k);
}

static uint32_t go_on_scanning(void)
{
	uint32_t words[WORDS_PER_PAGE], corrupt = 0;

	for (uint32_t n = 0; n < scan; n++, scan_at = (scan_at + 1) % nr_table) {
		lab_file_read(scan_file, scan_at, words);
		corrupt += lab_file_check(words, scan_at);
	}
	return corrupt;
}

__attribute__((noinline)) static uint32_t run_batch(uint32_t nr)
{
	uint32_t corrupt = 0;

	while (nr--)
		corrupt += look_up(lab_random(&random_state) % nr_table) + go_on_scanning();
	return corrupt;
}

static void open_files(const char *path)
{
	char *name;

	if (asprintf(&name, "%s.index", path) < 0)
		die_errno("out of memory");
	table = lab_file(path, nr_table);
	make_index(name);
	/* A separate open file, so that the readahead of one does not affect the other. */
	scan_file = open(path, O_RDONLY);
	if (scan_file < 0)
		die_errno(path);
	posix_fadvise(table, 0, 0, POSIX_FADV_RANDOM);
	posix_fadvise(index_file, 0, 0, POSIX_FADV_RANDOM);
	free(name);
}

int main(int argc, char **argv)
{
	uint64_t batch_ns[BATCHES], start_ns, t;
	uint32_t lookups, corrupt = 0;

	help_if_asked(argc, argv, HELP);
	random_state = lab_seed(&argc, argv, DEFAULT_SEED);
	lab_operands(argc, argv, 3, 4, HELP);
	lay_out(lab_pages(argv, 2, "TABLE_KB"));
	lookups = parse_number(argv[3], "LOOKUPS", BATCHES, INT32_MAX) / BATCHES * BATCHES;
	scan = argc > 4 ? parse_number(argv[4], "SCAN", 0, 1000000) : 0;
	open_files(argv[1]);

	start_ns = lab_now_ns();
	for (int batch = 0; batch < BATCHES; batch++) {
		t = lab_now_ns();
		corrupt += run_batch(lookups / BATCHES);
		batch_ns[batch] = lab_now_ns() - t;
	}
	t = lab_now_ns();
	lab_spread("dbscan_lookup", batch_ns, BATCHES, lookups / BATCHES, "ns");
	printf("R dbscan table_kb=%u index_kb=%u lookups=%u scan=%u run_us=%llu corrupt=%u\n",
	       nr_table * PAGE_KB, (1 + nr_inner + nr_leaves) * PAGE_KB, lookups, scan,
	       lab_us(t - start_ns), corrupt);
	return corrupt != 0;
}
