/*
 * A test runner that prints KTAP version 1 (the Linux kernel's Test Anything Protocol). The same
 * tests run in the kernel (boot with ktest) and on the host (tests/host/main.c).
 *
 *	KTEST(rbtree, erase_keeps_balance)
 *	{
 *		EXPECT(rb_check(&root) >= 0);
 *		EXPECT_EQ(count, 17);
 *	}
 *
 * A failed expectation prints a diagnostic line and the test continues. ASSERT is for conditions
 * that the rest of the test depends on.
 */
#ifndef LIB_KTAP_H
#define LIB_KTAP_H

#include "types.h"

struct ktest {
	const char *suite, *name;
	void (*run)(void);
};

/* Explicit alignment: otherwise the compiler may pad between the entries of the section. */
#define KTEST_ENTRY used, no_reorder, section(".ktests"), aligned(__alignof__(struct ktest))

#define KTEST(s, n)                                                                                \
	static void ktest_##s##_##n(void);                                                         \
	static const struct ktest                                                                  \
		__attribute__((KTEST_ENTRY)) ktest_entry_##s##_##n = { #s, #n, ktest_##s##_##n };  \
	static void ktest_##s##_##n(void)

#define EXPECT(cond) ((cond) ? (void)0 : ktap_fail(__FILE__, __LINE__, #cond))

/* a and b are integers or pointers. */
#define EXPECT_EQ(a, b)                                                                            \
	ktap_expect_eq(__FILE__, __LINE__, #a " == " #b, KTAP_VALUE(a), KTAP_VALUE(b))

#define EXPECT_STREQ(a, b) ktap_expect_streq(__FILE__, __LINE__, #a " == " #b, a, b)

/* Widens an integer or a pointer (class 5 of GCC's classification) without a warning. */
#define KTAP_VALUE(x)                                                                              \
	((long long)__builtin_choose_expr(__builtin_classify_type(x) == 5, (uintptr_t)(x), (x)))

void ktap_fail(const char *file, int line, const char *what);
void ktap_expect_eq(const char *file, int line, const char *what, long long a, long long b);
void ktap_expect_streq(const char *file, int line, const char *what, const char *a, const char *b);

/* Adds a diagnostic line to the report, for instance the seed of a random test. */
void ktap_note(const char *fmt, ...) __printf(1, 2);
/* Marks the running test as skipped, unless it fails. */
void ktap_skip(const char *why);

/* Runs every test of the image, one KTAP subtest per suite, and passes the report to print line by
 * line. Returns the number of failed tests. */
int ktap_run(void (*print)(const char *line));

/* Seed of the random tests: 1, unless set for the run. */
extern u32 ktap_seed;
/* The suites to run, separated by commas; empty: all. */
extern char ktap_suites[64];
/* Prints the seed as a note and returns it: the first line of a random test. */
u32 ktap_seed_noted(void);
/* Returns the next random number (xorshift32). The same seed gives the same numbers. */
u32 ktap_random(u32 *state);

#endif
