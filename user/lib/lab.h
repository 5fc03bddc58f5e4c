/*
 * What the workloads share: arguments, a clock, a random sequence that is the same everywhere,
 * private memory, and the lines of results. A result line is "R name key=value..."; the last key is
 * always corrupt=, the number of words that did not hold what was written, and a workload that
 * counts any exits with 1.
 *
 * What stands in the loops that are measured is inline here; the rest is in lab.c.
 */
#ifndef USER_LAB_H
#define USER_LAB_H

#include "lib.h"
#include <sys/mman.h>

enum { PAGE_SIZE_BYTES = 4096, WORDS_PER_PAGE = PAGE_SIZE_BYTES / sizeof(uint32_t) };

/* Marsaglia's xorshift (2003): the next number, which is also the new state. The seed must not be 0. */
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

/*
 * Word @word of page @page. Volatile, because every access is a reference that the experiment
 * counts on.
 */
static inline volatile uint32_t *lab_at(void *base, uint32_t page, uint32_t word)
{
	return (volatile uint32_t *)base + (size_t)page * WORDS_PER_PAGE + word;
}

/* A program's own work between two references: so many empty turns of a loop. */
static inline void lab_work(uint32_t turns)
{
	for (volatile uint32_t turn = 0; turn < turns; turn++)
		;
}

/* The clock of the machine, from its start. */
uint64_t lab_now_ns(void);
unsigned long long lab_us(uint64_t ns);

/* Take the flag @name out of the arguments. */
bool lab_flag(int *argc, char **argv, const char *name);

/*
 * Take the option @name and the number after it out of the arguments; @value when it is not there.
 */
long long lab_option(int *argc, char **argv, const char *name, long long min, long long max,
		     long long value);
uint32_t lab_seed(int *argc, char **argv, uint32_t seed);

/* After the options have been taken: the right number of operands must be left. */
void lab_operands(int argc, char **argv, int min, int max, const char *help);

/* Operand @i, a size in KiB, as pages. */
uint32_t lab_pages(char **argv, int i, const char *what);

/* Private zeroed memory that takes no frame before it is touched. */
void *lab_map(uint32_t nr_pages);

/*
 * A new file of so many pages at @path, on its device and, as far as that can be, not in memory. Each word
 * of it follows from its place; lab_file_check returns how many of a page's do not.
 */
int lab_file(const char *path, uint32_t nr_pages);
uint32_t lab_file_check(const uint32_t *words, uint32_t page);
/* Read page @page of such a file, or die. */
void lab_file_read(int fd, uint32_t page, uint32_t *words);

/* Room for @nr measured times. */
uint64_t *lab_times(int nr);

/*
 * The spread of @nr times in ns, each of @divisor operations, as "R name n= min= med= p90= p99=
 * max= unit". Sorts them.
 */
void lab_spread(const char *name, uint64_t *ns, int nr, uint32_t divisor, const char *unit);

#endif
