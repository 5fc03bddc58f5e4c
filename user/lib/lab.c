/* Shared by the workloads, besides the inline functions of lab.h. */
#include "lab.h"

uint64_t lab_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

unsigned long long lab_us(uint64_t ns)
{
	return ns / 1000;
}

/* Remove @nr arguments from @i on, or fewer if there are fewer. */
static void lab_remove(int *argc, char **argv, int i, int nr)
{
	if (nr > *argc - i)
		nr = *argc - i;
	memmove(&argv[i], &argv[i + nr], (*argc - i - nr + 1) * sizeof(*argv));
	*argc -= nr;
}

bool lab_flag(int *argc, char **argv, const char *name)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], name))
			continue;
		lab_remove(argc, argv, i, 1);
		return true;
	}
	return false;
}

long long lab_option(int *argc, char **argv, const char *name, long long min, long long max,
		     long long value)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], name))
			continue;
		value = parse_number(i + 1 < *argc ? argv[i + 1] : "", name, min, max);
		lab_remove(argc, argv, i, 2);
		break;
	}
	return value;
}

uint32_t lab_seed(int *argc, char **argv, uint32_t seed)
{
	return lab_option(argc, argv, "--seed", 1, UINT32_MAX, seed);
}

void lab_operands(int argc, char **argv, int min, int max, const char *help)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-' && argv[i][1])
			usage_error(help);
	}
	if (argc - 1 < min || argc - 1 > max)
		usage_error(help);
}

uint32_t lab_pages(char **argv, int i, const char *what)
{
	return parse_number(argv[i], what, PAGE_KB, 3 << 20) / PAGE_KB;
}

void *lab_map(uint32_t nr_pages)
{
	void *p = mmap(NULL, (size_t)nr_pages * PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die_errno("mmap");
	return p;
}

static void lab_file_fill(int fd, uint32_t page)
{
	uint32_t words[WORDS_PER_PAGE];

	for (uint32_t i = 0; i < WORDS_PER_PAGE; i++)
		words[i] = lab_word(page) + i;
	if (pwrite(fd, words, sizeof(words), (off_t)page * sizeof(words)) != sizeof(words))
		die_errno("write");
}

int lab_file(const char *path, uint32_t nr_pages)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		die_errno(path);
	for (uint32_t page = 0; page < nr_pages; page++)
		lab_file_fill(fd, page);
	if (fsync(fd))
		die_errno("fsync");
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return fd;
}

uint32_t lab_file_check(const uint32_t *words, uint32_t page)
{
	uint32_t corrupt = 0;

	for (uint32_t i = 0; i < WORDS_PER_PAGE; i++)
		corrupt += words[i] != lab_word(page) + i;
	return corrupt;
}

void lab_file_read(int fd, uint32_t page, uint32_t *words)
{
	if (pread(fd, words, PAGE_SIZE_BYTES, (off_t)page * PAGE_SIZE_BYTES) != PAGE_SIZE_BYTES)
		die_errno("read");
}

uint64_t *lab_times(int nr)
{
	uint64_t *ns = calloc(nr, sizeof(*ns));

	if (!ns)
		die_errno("out of memory");
	return ns;
}

static int lab_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void lab_spread(const char *name, uint64_t *ns, int nr, uint32_t divisor, const char *unit)
{
	static const char *const labels[] = { "min", "med", "p90", "p99", "max" };
	int at[] = { 0, nr / 2, nr * 9 / 10, nr * 99 / 100, nr - 1 };

	qsort(ns, nr, sizeof(*ns), lab_compare);
	printf("R %-24s n=%d", name, nr);
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		unsigned long long tenths = ns[at[i]] * 10 / divisor;

		printf(" %s=%llu.%llu", labels[i], tenths / 10, tenths % 10);
	}
	printf(" %s\n", unit);
}
