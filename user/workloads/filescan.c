/*
 * filescan: a file, or a disk, is read from end to end repeatedly, and every word is checked.
 *
 * With `fill` it first writes the expected data: each word is a function of its position. It reads
 * by read(2) or through a mapping. `write` changes every word through a shared mapping on the way;
 * `random` visits the pages in a mixed order.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: filescan PATH [PASSES] [read|mmap] [fill] [write] [random] [--kb N] [--seed N]\n"  \
	"Read all pages of a file PASSES times, by read(2) or through a mapping, and check\n"      \
	"each word. fill: write the file first, over its whole size. write: change each\n"         \
	"page on the way. random: in mixed order. --kb: make it first, of N KiB. The seed is\n"    \
	"part of each word.\n"

enum { PAGE = PAGE_SIZE_BYTES, WORDS = WORDS_PER_PAGE };

static uint32_t nr_pages, seed, corrupt;
static int fd;
static bool writes, mixed;

static uint32_t word_at(uint32_t page, uint32_t i, uint32_t pass)
{
	return (page * WORDS + i) * 2654435761u + seed + (i == 0 ? pass : 0);
}

static void check_page(uint32_t page, const uint32_t *words, uint32_t pass)
{
	bool bad = false;

	for (uint32_t i = 0; i < WORDS; i++)
		bad |= words[i] != word_at(page, i, pass);
	corrupt += bad;
}

static void fill(void)
{
	uint32_t words[WORDS];

	for (uint32_t page = 0; page < nr_pages; page++) {
		for (uint32_t i = 0; i < WORDS; i++)
			words[i] = word_at(page, i, 0);
		if (pwrite(fd, words, PAGE, (off_t)page * PAGE) != PAGE)
			die_errno("write");
	}
}

static void scan_page(uint32_t page, uint32_t *map, uint32_t pass)
{
	uint32_t words[WORDS], *at = map ? map + (size_t)page * WORDS : words;
	uint32_t seen = writes ? pass : 0;

	if (!map && pread(fd, words, PAGE, (off_t)page * PAGE) != PAGE)
		die_errno("read");
	check_page(page, at, seen);
	if (!writes)
		return;
	at[0]++;
	if (!map && pwrite(fd, words, 4, (off_t)page * PAGE) != 4)
		die_errno("write");
}

/* Returns a step coprime to the number of pages, so that each page is visited once. */
static uint32_t step(void)
{
	uint32_t n = nr_pages * 5 / 8 | 1, a, b, rest;

	for (;; n += 2) {
		for (a = n, b = nr_pages; b; a = b, b = rest)
			rest = a % b;
		if (a == 1)
			return mixed ? n : 1;
	}
}

static void *map_file(void)
{
	void *map = mmap(NULL, (size_t)nr_pages * PAGE, PROT_READ | (writes ? PROT_WRITE : 0),
			 MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		die_errno("mmap");
	return map;
}

int main(int argc, char **argv)
{
	uint32_t passes, by, new_pages;
	uint64_t start_ns;
	uint32_t *map;
	bool by_mmap, filled;

	help_if_asked(argc, argv, HELP);
	seed = lab_option(&argc, argv, "--seed", 0, UINT32_MAX, 0);
	new_pages = lab_option(&argc, argv, "--kb", 0, 3 << 20, 0) * 1024 / PAGE;
	by_mmap = lab_flag(&argc, argv, "mmap");
	lab_flag(&argc, argv, "read");
	filled = lab_flag(&argc, argv, "fill");
	writes = lab_flag(&argc, argv, "write");
	mixed = lab_flag(&argc, argv, "random");
	lab_operands(argc, argv, 1, 2, HELP);
	passes = argc > 2 ? parse_number(argv[2], "PASSES", 0, 1000000) : 1;
	fd = open(argv[1], (filled || writes ? O_RDWR : O_RDONLY) | (new_pages ? O_CREAT : 0),
		  0600);
	if (fd < 0 || (new_pages && ftruncate(fd, (off_t)new_pages * PAGE)))
		die_errno(argv[1]);
	nr_pages = lseek(fd, 0, SEEK_END) / PAGE;
	if (filled)
		fill();
	start_ns = lab_now_ns();
	map = by_mmap ? map_file() : NULL;
	by = step();
	for (uint32_t pass = 0; pass < passes; pass++)
		for (uint32_t n = 0, page = 0; n < nr_pages; n++, page = (page + by) % nr_pages)
			scan_page(page, map, pass);
	printf("R filescan pages=%u passes=%u corrupt=%u us=%llu\n", nr_pages, passes, corrupt,
	       lab_us(lab_now_ns() - start_ns));
	return corrupt != 0;
}
