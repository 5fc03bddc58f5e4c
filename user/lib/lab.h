/*
 * Shared by the workloads: arguments, a clock, a random sequence that is the same everywhere,
 * private memory, and result lines. A result line is "R name key=value..."; the last key is always
 * corrupt=, the number of words that did not hold the written value. A workload that counts any
 * exits with 1.
 *
 * Code inside measured loops is inline here; the rest is in lab.c.
 */
#ifndef USER_LAB_H
#define USER_LAB_H

#include "lib.h"
#include <sys/mman.h>

enum { PAGE_SIZE_BYTES = 4096, WORDS_PER_PAGE = PAGE_SIZE_BYTES / sizeof(uint32_t) };

/* Marsaglia's xorshift (2003): returns the next number, also the new state. The seed must not be
 * 0. */
static inline uint32_t lab_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Returns the word to write to page @i. Knuth's multiplier: neighbours differ in many bits. */
static inline uint32_t lab_word(uint32_t i)
{
	return i * 2654435761u;
}

/*
 * Returns word @word of page @page. Volatile, because the experiment counts on every access being a
 * reference.
 */
static inline volatile uint32_t *lab_at(void *base, uint32_t page, uint32_t word)
{
	return (volatile uint32_t *)base + (size_t)page * WORDS_PER_PAGE + word;
}

/* A program's own work between two references: @turns empty iterations of a loop. */
static inline void lab_work(uint32_t turns)
{
	for (volatile uint32_t turn = 0; turn < turns; turn++)
		;
}

/* Time since the start of the machine. */
uint64_t lab_now_ns(void);
unsigned long long lab_us(uint64_t ns);

/* Remove the flag @name from the arguments. Returns true if it was given. */
bool lab_flag(int *argc, char **argv, const char *name);

/*
 * Remove the option @name and its number from the arguments. Returns the number, or @value if not
 * given.
 */
long long lab_option(int *argc, char **argv, const char *name, long long min, long long max,
		     long long value);
uint32_t lab_seed(int *argc, char **argv, uint32_t seed);

/* Call after the options have been removed: checks the number of operands. */
void lab_operands(int argc, char **argv, int min, int max, const char *help);

/* Returns operand @i, a size in KiB, in pages. */
uint32_t lab_pages(char **argv, int i, const char *what);

/* Returns private zeroed memory, which takes no frame before it is touched. */
void *lab_map(uint32_t nr_pages);

/*
 * A new file of @nr_pages pages at @path, written to its device and, as far as possible, not
 * cached. Each word is a function of its position. lab_file_check returns the number of wrong words
 * in a page.
 */
int lab_file(const char *path, uint32_t nr_pages);
uint32_t lab_file_check(const uint32_t *words, uint32_t page);
/* Read page @page of such a file; exits on failure. */
void lab_file_read(int fd, uint32_t page, uint32_t *words);

/* Returns room for @nr measured times. */
uint64_t *lab_times(int nr);

/*
 * Print the distribution of @nr times in ns, each of @divisor operations, as "R name n= min= med=
 * p90= p99= max= unit". Sorts the times.
 */
void lab_spread(const char *name, uint64_t *ns, int nr, uint32_t divisor, const char *unit);

#endif
