/*
 * reader: given pages of a file, or of a disk, read in a given order.
 *
 * What read-ahead brings is worth something only if it is asked for later. So the order is the
 * experiment: in sequence, with gaps, at random, alternating between two places. All pages are read
 * by one open file, or through one mapping. Readers with open files of their own are several
 * programs: `reader /dev/sda 0-99 & reader /dev/sda 500-599; wait`. What the kernel reads from the
 * disk, /proc/diskstats and an observer outside the machine count.
 */
#include "lab.h"

#define HELP                                                                                         \
	"usage: reader PATH [mmap] [check] [ADVICE] [--nr N] [--work N] PAGE...\n"                   \
	"Read these pages of a file or a disk, in order. A PAGE is a number or a range like 1-5;\n"  \
	"1-99/8: every eighth of them; @FILE: the words in FILE. mmap: through a mapping. --nr N:\n" \
	"N pages from each PAGE on, by one call (default 1). --work: empty loop turns after each.\n" \
	"check: word i of page p is p * 2654435761 + i. ADVICE to the kernel: random, sequential.\n" \
	"Nothing here is random, so there is no seed.\n"

enum { MAX_PAGES = 1 << 16, MAX_AT_ONCE = 64, MAX_TEXT = 1 << 18 };

static uint32_t pages[MAX_PAGES], nr_pages, at_once, work, corrupt;
static uint32_t buffer[MAX_AT_ONCE][WORDS_PER_PAGE];
static bool checks;
static int fd, advice = POSIX_FADV_NORMAL; /* madvise has the same numbers */

static void add_pages(long first, long last, long step)
{
	for (long page = first; page <= last; page += step) {
		if (nr_pages == MAX_PAGES) {
			warn_user("more than %d pages", MAX_PAGES);
			exit(2);
		}
		pages[nr_pages++] = page;
	}
}

static void parse_word(const char *word)
{
	char *end;
	long first = strtol(word, &end, 10), last = first, step = 1;

	if (*end == '-')
		last = strtol(end + 1, &end, 10);
	if (*end == '/')
		step = strtol(end + 1, &end, 10);
	if (*end || end == word || first < 0 || last < first || step < 1) {
		warn_user("'%s' is not a page, or a range like 1-5 or 1-99/8", word);
		exit(2);
	}
	add_pages(first, last, step);
}

static void parse_file(const char *path)
{
	static char text[MAX_TEXT];

	if (read_file(path, text, sizeof(text)) <= 0)
		die_errno(path);
	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n"))
		parse_word(word);
}

static void look(const uint32_t *words, uint32_t page)
{
	if (checks)
		corrupt += lab_file_check(words, page) != 0;
	else
		(void)*(const volatile uint32_t *)words;
}

/* Reads `at_once` pages from `page` on. */
static void visit(const uint32_t *map, uint32_t page)
{
	ssize_t bytes = (ssize_t)at_once * PAGE_SIZE_BYTES;

	if (!map && pread(fd, buffer, bytes, (off_t)page * PAGE_SIZE_BYTES) != bytes)
		die_errno("read");
	for (uint32_t n = 0; n < at_once; n++)
		look(map ? map + (size_t)(page + n) * WORDS_PER_PAGE : buffer[n], page + n);
	lab_work(work);
}

static uint32_t *map_file(void)
{
	size_t bytes = lseek(fd, 0, SEEK_END);
	uint32_t *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED || madvise(map, bytes, advice))
		die_errno("mmap");
	return map;
}

int main(int argc, char **argv)
{
	uint64_t start_ns;
	uint32_t *map;
	bool mapped;

	help_if_asked(argc, argv, HELP);
	at_once = lab_option(&argc, argv, "--nr", 1, MAX_AT_ONCE, 1);
	work = lab_option(&argc, argv, "--work", 0, UINT32_MAX, 0);
	mapped = lab_flag(&argc, argv, "mmap");
	checks = lab_flag(&argc, argv, "check");
	if (lab_flag(&argc, argv, "random"))
		advice = POSIX_FADV_RANDOM;
	if (lab_flag(&argc, argv, "sequential"))
		advice = POSIX_FADV_SEQUENTIAL;
	lab_operands(argc, argv, 2, INT32_MAX, HELP);
	for (int i = 2; i < argc; i++)
		if (*argv[i] == '@')
			parse_file(argv[i] + 1);
		else
			parse_word(argv[i]);
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		die_errno(argv[1]);
	posix_fadvise(fd, 0, 0, advice);
	map = mapped ? map_file() : NULL;

	start_ns = lab_now_ns();
	for (uint32_t i = 0; i < nr_pages; i++)
		visit(map, pages[i]);
	printf("R reader pages=%u us=%llu corrupt=%u\n", nr_pages * at_once,
	       lab_us(lab_now_ns() - start_ns), corrupt);
	return corrupt != 0;
}
