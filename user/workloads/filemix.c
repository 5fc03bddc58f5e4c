/*
 * filemix: frequently used memory, beside a file that streams by.
 *
 * Each page of the file is used once per pass, so keeping it is useless: the file is larger than
 * memory. The hot set is the program's own memory or, with `hotfile`, a mapped file. Each of its
 * pages is used twice before a pass and, with EVERY, one random page of it after every EVERY pages
 * of the file. A policy based on recency alone sees more new pages between two uses than memory
 * holds, and evicts the hot set for the stream. kept is the resident part of the hot set at the end
 * of a pass, before its next use: mean and minimum.
 */
#include "lab.h"
#include <sys/resource.h>

#define HELP                                                                                       \
	"usage: filemix PATH HOT_KB FILE_KB PASSES [EVERY] [mmap] [hotfile] [--seed N]\n"          \
	"Make the file, FILE_KB KiB; then PASSES times use HOT_KB KiB of memory twice\n"           \
	"and read the file through. One page of memory also after every EVERY pages of the\n"      \
	"file (default 0: none). mmap: the file is mapped, not read. hotfile: the memory is\n"     \
	"that of a second file, PATH.hot, mapped.\n"

enum { DEFAULT_SEED = 2463534242u >> 1 };

static uint32_t nr_hot, nr_file, every, random_state, *times_used;
static void *hot, *map;
static uint32_t nr_others; /* pages of files that were already mapped */
static bool hot_file;
static int fd;

/* Uses a hot page and checks its content: a word made of its number and, if it is not a file's, the
 * number of its uses. Returns 1 if the content is wrong. */
static uint32_t use(uint32_t k)
{
	uint32_t bad = *lab_at(hot, k, 0) != lab_word(k);

	if (hot_file)
		return bad;
	bad |= *lab_at(hot, k, 1) != times_used[k];
	*lab_at(hot, k, 1) = ++times_used[k];
	return bad;
}

static uint32_t use_all(void)
{
	uint32_t corrupt = 0;

	for (int twice = 0; twice < 2; twice++)
		for (uint32_t k = 0; k < nr_hot; k++)
			corrupt += use(k);
	return corrupt;
}

static uint32_t stream(void)
{
	uint32_t words[WORDS_PER_PAGE], corrupt = 0;

	for (uint32_t page = 0; page < nr_file; page++) {
		if (!map)
			lab_file_read(fd, page, words);
		corrupt +=
			lab_file_check(map ? (uint32_t *)map + page * WORDS_PER_PAGE : words, page);
		if (every && page % every == every - 1)
			corrupt += use(lab_random(&random_state) % nr_hot);
	}
	return corrupt;
}

static long major_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

static uint32_t pages_of(const char *key)
{
	char text[2048];

	if (read_file("/proc/self/status", text, sizeof(text)) < 0)
		die_errno("/proc/self/status");
	return file_value(text, key) / PAGE_KB;
}

/* Returns the resident part of the hot set, per mille. The program's few other pages count as
 * hot. */
static uint32_t kept(void)
{
	uint32_t there = pages_of("RssFile:") - nr_others, away = pages_of("VmSwap:");

	if (hot_file)
		away = there < nr_hot ? nr_hot - there : 0;
	return away < nr_hot ? (nr_hot - away) * 1000 / nr_hot : 0;
}

static void *map_file(int file, uint32_t nr_pages)
{
	void *at = mmap(NULL, (size_t)nr_pages * PAGE_SIZE_BYTES, PROT_READ, MAP_SHARED, file, 0);

	if (at == MAP_FAILED)
		die_errno("mmap");
	return at;
}

static void make_hot(const char *path)
{
	char *name;

	if (asprintf(&name, "%s.hot", path) < 0 ||
	    !(times_used = calloc(nr_hot, sizeof(*times_used))))
		die_errno("out of memory");
	hot = hot_file ? map_file(lab_file(name, nr_hot), nr_hot) : lab_map(nr_hot);
	for (uint32_t k = 0; !hot_file && k < nr_hot; k++)
		*lab_at(hot, k, 0) = lab_word(k);
	nr_others = pages_of("RssFile:");
}

int main(int argc, char **argv)
{
	uint32_t passes, corrupt = 0, now, least = 1000, sum = 0;
	bool mapped;
	uint64_t t;

	help_if_asked(argc, argv, HELP);
	random_state = lab_seed(&argc, argv, DEFAULT_SEED);
	mapped = lab_flag(&argc, argv, "mmap");
	hot_file = lab_flag(&argc, argv, "hotfile");
	lab_operands(argc, argv, 4, 5, HELP);
	if (mapped && hot_file) {
		warn_user("mmap and hotfile: which pages are the hot ones could not be told");
		return 2;
	}
	nr_hot = lab_pages(argv, 2, "HOT_KB");
	nr_file = lab_pages(argv, 3, "FILE_KB");
	passes = parse_number(argv[4], "PASSES", 1, 1000000);
	every = argc > 5 ? parse_number(argv[5], "EVERY", 0, INT32_MAX) : 0;
	fd = lab_file(argv[1], nr_file);
	map = mapped ? map_file(fd, nr_file) : NULL;
	make_hot(argv[1]);

	t = lab_now_ns();
	for (uint32_t pass = 0; pass < passes; pass++) {
		corrupt += use_all() + stream();
		now = kept();
		sum += now;
		least = now < least ? now : least;
	}
	printf("R filemix hot_kb=%u file_kb=%u passes=%u every=%u run_us=%llu major=%ld kept=%u.%u%% "
	       "least=%u.%u%% corrupt=%u\n",
	       nr_hot * PAGE_KB, nr_file * PAGE_KB, passes, every, lab_us(lab_now_ns() - t),
	       major_faults(), sum / passes / 10, sum / passes % 10, least / 10, least % 10,
	       corrupt);
	return corrupt != 0;
}
