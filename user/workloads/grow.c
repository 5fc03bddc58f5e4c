/*
 * grow: memory that grows, is freed at once, and grows again.
 *
 * Like a compiler that works function by function: it builds a tree node by node, looks back while
 * it builds, mostly at young nodes, and then frees all of it. A table that lives as long as the
 * program is used throughout. The freed pages need no replacement. A policy that writes them just
 * before works in vain, and the demand measured in the last cycle says little about this one. Each
 * cycle ends at a random size between a half and all of KB.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: grow KB CYCLES [WORK] [--seed N]\n"                                                \
	"CYCLES times: grow from nothing to at most KB KiB, a block after the other, look\n"       \
	"back at older pages after every page, and free everything. WORK empty loop turns\n"       \
	"after every page (default 0).\n"

enum { DEFAULT_SEED = 521288629, BLOCK_PAGES = 16, LOOKS_BACK = 4, TABLE_PART = 16 };

static uint32_t nr_table, work, random_state;
static void *table, **blocks;

static volatile uint32_t *word_at(uint32_t page)
{
	return lab_at(blocks[page / BLOCK_PAGES], page % BLOCK_PAGES, 0);
}

/* Half of the looks go anywhere, a quarter to the younger half, an eighth to its younger half. */
static uint32_t older_page(uint32_t nr_pages)
{
	uint32_t x = lab_random(&random_state), reach = nr_pages >> (__builtin_ctz(x | 1u << 16));

	return nr_pages - 1 - (x >> 8) % (reach ? reach : 1);
}

/* Grow to @nr pages, checking on the way. Returns the number of wrong words. */
static uint32_t grow(uint32_t nr, uint32_t cycle)
{
	uint32_t corrupt = 0;

	for (uint32_t page = 0; page < nr; page++) {
		if (page % BLOCK_PAGES == 0)
			blocks[page / BLOCK_PAGES] = lab_map(BLOCK_PAGES);
		corrupt += *word_at(page) != 0;
		*word_at(page) = lab_word(page) + cycle;
		for (int i = 0; i < LOOKS_BACK; i++) {
			uint32_t older = older_page(page + 1);
			uint32_t symbol = lab_random(&random_state) % nr_table;

			corrupt += *word_at(older) != lab_word(older) + cycle;
			corrupt += *lab_at(table, symbol, 0) != lab_word(symbol);
		}
		lab_work(work);
	}
	return corrupt;
}

static void free_all(uint32_t nr)
{
	for (uint32_t page = 0; page < nr; page += BLOCK_PAGES)
		if (munmap(blocks[page / BLOCK_PAGES], BLOCK_PAGES * PAGE_SIZE_BYTES))
			die_errno("munmap");
}

int main(int argc, char **argv)
{
	uint32_t max_pages, cycles, corrupt = 0;
	uint64_t t;

	help_if_asked(argc, argv, HELP);
	random_state = lab_seed(&argc, argv, DEFAULT_SEED);
	lab_operands(argc, argv, 2, 3, HELP);
	max_pages = lab_pages(argv, 1, "KB");
	cycles = parse_number(argv[2], "CYCLES", 1, 1000000);
	work = argc > 3 ? parse_number(argv[3], "WORK", 0, INT32_MAX) : 0;
	nr_table = max_pages / TABLE_PART + 1;
	table = lab_map(nr_table);
	blocks = calloc(max_pages / BLOCK_PAGES + 1, sizeof(*blocks));
	if (!blocks)
		die_errno("out of memory");
	for (uint32_t k = 0; k < nr_table; k++)
		*lab_at(table, k, 0) = lab_word(k);

	t = lab_now_ns();
	for (uint32_t cycle = 0; cycle < cycles; cycle++) {
		uint32_t nr = max_pages - lab_random(&random_state) % (max_pages / 2 + 1);

		corrupt += grow(nr, cycle);
		free_all(nr);
	}
	printf("R grow kb=%u cycles=%u work=%u run_us=%llu corrupt=%u\n", max_pages * PAGE_KB,
	       cycles, work, lab_us(lab_now_ns() - t), corrupt);
	return corrupt != 0;
}
