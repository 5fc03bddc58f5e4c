/*
 * What the lab workloads share: arguments, a clock, a random sequence that is the same everywhere,
 * private memory, and the lines of results. A result line is "R name key=value..."; the last key is
 * always corrupt=, the number of words that did not hold what was written, and a workload that
 * counts any exits with 1.
 */
#ifndef USER_WORKLOADS_LAB_H
#define USER_WORKLOADS_LAB_H

#include "lib.h"
#include <sys/mman.h>

enum { PAGE_SIZE_BYTES = 4096, WORDS_PER_PAGE = PAGE_SIZE_BYTES / sizeof(uint32_t) };

static inline uint64_t lab_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline unsigned long long lab_us(uint64_t ns)
{
	return ns / 1000;
}

/* Marsaglia's xorshift (2003). The seed must not be 0. */
static inline uint32_t lab_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* The word that belongs into page @i. Knuth's multiplier: neighbours differ in many bits. */
static inline uint32_t lab_word(uint32_t i)
{
	return i * 2654435761u;
}

/* Take @nr arguments from @i on out; fewer when there are not so many. */
static inline void lab_remove(int *argc, char **argv, int i, int nr)
{
	if (nr > *argc - i)
		nr = *argc - i;
	memmove(&argv[i], &argv[i + nr], (*argc - i - nr + 1) * sizeof(*argv));
	*argc -= nr;
}

/* Take the flag @name out of the arguments. */
static inline bool lab_flag(int *argc, char **argv, const char *name)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], name))
			continue;
		lab_remove(argc, argv, i, 1);
		return true;
	}
	return false;
}

/*
 * Take the option @name and the number after it out of the arguments; @value when it is not there.
 */
static inline long long lab_option(int *argc, char **argv, const char *name, long long min,
				   long long max, long long value)
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

static inline uint32_t lab_seed(int *argc, char **argv, uint32_t seed)
{
	return lab_option(argc, argv, "--seed", 1, UINT32_MAX, seed);
}

/* After the options have been taken: the right number of operands must be left. */
static inline void lab_operands(int argc, char **argv, int min, int max, const char *help)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-' && argv[i][1])
			usage_error(help);
	}
	if (argc - 1 < min || argc - 1 > max)
		usage_error(help);
}

/* Operand @i, a size in KiB, as pages. */
static inline uint32_t lab_pages(char **argv, int i, const char *what)
{
	return parse_number(argv[i], what, PAGE_KB, 3 << 20) / PAGE_KB;
}

/* Private zeroed memory that takes no frame before it is touched. */
static inline void *lab_map(uint32_t nr_pages)
{
	void *p = mmap(NULL, (size_t)nr_pages * PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die_errno("mmap");
	return p;
}

/*
 * Word @word of page @page. Volatile, because every access is a reference that the experiment
 * counts on.
 */
static inline volatile uint32_t *lab_at(void *base, uint32_t page, uint32_t word)
{
	return (volatile uint32_t *)base + (size_t)page * WORDS_PER_PAGE + word;
}

/* Room for @nr measured times. */
static inline uint64_t *lab_times(int nr)
{
	uint64_t *ns = calloc(nr, sizeof(*ns));

	if (!ns)
		die_errno("out of memory");
	return ns;
}

static inline int lab_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * The spread of @nr times in ns, each of @divisor operations, as "R name n= min= med= p90= max=
 * unit". Sorts them.
 */
static inline void lab_spread(const char *name, uint64_t *ns, int nr, uint32_t divisor,
			      const char *unit)
{
	static const char *const labels[] = { "min", "med", "p90", "max" };
	int at[] = { 0, nr / 2, nr * 9 / 10, nr - 1 };

	qsort(ns, nr, sizeof(*ns), lab_compare);
	printf("R %-24s n=%d", name, nr);
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		unsigned long long tenths = ns[at[i]] * 10 / divisor;

		printf(" %s=%llu.%llu", labels[i], tenths / 10, tenths % 10);
	}
	printf(" %s\n", unit);
}

#endif
