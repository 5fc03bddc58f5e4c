/*
 * btree: random lookups through an index one tenth the size of its data.
 *
 * The tree has one root page, inner pages of 32 children, leaf pages, and data pages. A lookup
 * touches one page of each level: the root on every lookup, an inner page often, a leaf page now
 * and then, a data page hardly twice. A policy should keep the frequently used pages and evict data
 * pages. One that only knows how long ago a page came in (FIFO) evicts the index with the data.
 *
 *	root: page 0 | nr_inner inner pages | nr_leaves leaf pages | nr_data data pages
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: btree DATA_KB LOOKUPS [--seed N]\n"                                                \
	"Build a tree over DATA_KB KiB of data pages, then look LOOKUPS random ones up\n"          \
	"and check them.\n"

enum { BATCHES = 20, FANOUT = 32 };

static const uint32_t default_seed = 2463534242;

static uint32_t nr_data, nr_leaves, nr_inner, data_per_leaf;
static void *tree;

static void lay_out(uint32_t data_pages)
{
	nr_data = data_pages;
	nr_leaves = nr_data / 10 ? nr_data / 10 : 1;
	data_per_leaf = (nr_data + nr_leaves - 1) / nr_leaves;
	nr_inner = (nr_leaves + FANOUT - 1) / FANOUT;
}

static void build(void)
{
	uint32_t first_leaf = 1 + nr_inner, first_data = first_leaf + nr_leaves;

	for (uint32_t i = 0; i < nr_inner; i++)
		*lab_at(tree, 0, i % WORDS_PER_PAGE) = 1 + i;
	for (uint32_t i = 0; i < nr_leaves; i++)
		*lab_at(tree, 1 + i / FANOUT, i % FANOUT) = first_leaf + i;
	for (uint32_t i = 0; i < nr_data; i++) {
		*lab_at(tree, first_leaf + i / data_per_leaf, i % data_per_leaf) = first_data + i;
		*lab_at(tree, first_data + i, i % WORDS_PER_PAGE) = lab_word(i);
	}
}

/* Walk down to datum @i. Returns true if it holds the written value. */
static bool lookup(uint32_t i)
{
	uint32_t leaf = i / data_per_leaf, inner = leaf / FANOUT, page;

	/*
	 * A root page has room for only WORDS_PER_PAGE inner pages; with more, their numbers are
	 * computed.
	 */
	page = nr_inner <= WORDS_PER_PAGE ? *lab_at(tree, 0, inner) : 1 + inner;
	page = *lab_at(tree, page, leaf % FANOUT);
	page = *lab_at(tree, page, i % data_per_leaf);
	return *lab_at(tree, page, i % WORDS_PER_PAGE) == lab_word(i);
}

/*
 * Random lookups. Returns the number of wrong results. Not inline, so that the measured loop has
 * the registers to itself.
 */
__attribute__((noinline)) static uint32_t run_batch(uint32_t *random_state, uint32_t lookups)
{
	uint32_t corrupt = 0;

	for (uint32_t k = 0; k < lookups; k++)
		corrupt += !lookup(lab_random(random_state) % nr_data);
	return corrupt;
}

int main(int argc, char **argv)
{
	uint64_t batch_ns[BATCHES], start_ns, filled_ns, end_ns, t;
	uint32_t random_state, lookups, nr_index, corrupt = 0;

	help_if_asked(argc, argv, HELP);
	random_state = lab_seed(&argc, argv, default_seed);
	lab_operands(argc, argv, 2, 2, HELP);
	lay_out(lab_pages(argv, 1, "DATA_KB"));
	lookups = parse_number(argv[2], "LOOKUPS", BATCHES, INT32_MAX);
	nr_index = 1 + nr_inner + nr_leaves;
	tree = lab_map(nr_index + nr_data);

	start_ns = lab_now_ns();
	build();
	filled_ns = lab_now_ns();
	for (int batch = 0; batch < BATCHES; batch++) {
		t = lab_now_ns();
		corrupt += run_batch(&random_state, lookups / BATCHES);
		batch_ns[batch] = lab_now_ns() - t;
	}
	end_ns = lab_now_ns();
	lab_spread("btree_lookup", batch_ns, BATCHES, lookups / BATCHES, "ns");
	printf("R btree data_kb=%u index_kb=%u lookups=%u fill_us=%llu lookup_us=%llu corrupt=%u\n",
	       nr_data * PAGE_KB, nr_index * PAGE_KB, lookups, lab_us(filled_ns - start_ns),
	       lab_us(end_ns - filled_ns), corrupt);
	return corrupt != 0;
}
