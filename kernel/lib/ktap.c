/*
 * The KTAP test runner. Every suite is a subtest, in the order in which the suites first occur in
 * the image. A suite may extend over several files. Diagnostic lines precede the result of their
 * test, as the format requires.
 */
#include "lib/ktap.h"
#include "lib/printf.h"
#include "lib/string.h"

extern const struct ktest __ktests_start[], __ktests_end[];

u32 ktap_seed = 1;
char ktap_suites[64];

static struct {
	void (*print)(const char *line);
	bool failed;      /* the running test */
	const char *skip; /* the reason for skipping it, or NULL */
} ktap;

static void emit(const char *fmt, ...) __printf(1, 2);
static void emit(const char *fmt, ...)
{
	char line[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	ktap.print(line);
}

void ktap_note(const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	emit("    # %s\n", text);
}

void ktap_skip(const char *why)
{
	ktap.skip = why;
}

void ktap_fail(const char *file, int line, const char *what)
{
	ktap.failed = true;
	ktap_note("%s:%d: expected %s", file, line, what);
}

void ktap_expect_eq(const char *file, int line, const char *what, long long a, long long b)
{
	if (a == b)
		return;
	ktap_fail(file, line, what);
	ktap_note("  left  %lld (0x%llx)", a, a);
	ktap_note("  right %lld (0x%llx)", b, b);
}

void ktap_expect_streq(const char *file, int line, const char *what, const char *a, const char *b)
{
	if (!strcmp(a, b))
		return;
	ktap_fail(file, line, what);
	ktap_note("  left  \"%s\"", a);
	ktap_note("  right \"%s\"", b);
}

u32 ktap_seed_noted(void)
{
	ktap_note("seed %u", ktap_seed);
	return ktap_seed ? ktap_seed : 1;
}

u32 ktap_random(u32 *state)
{
	u32 x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}

static bool same_suite(const struct ktest *a, const struct ktest *b)
{
	return !strcmp(a->suite, b->suite);
}

/* Is the suite one of the names in ktap_suites, which are separated by commas? */
static bool is_wanted(const char *suite)
{
	size_t length = strlen(suite);
	const char *at = ktap_suites;

	while (*at) {
		size_t n = 0;

		while (at[n] && at[n] != ',')
			n++;
		if (n == length && !strncmp(at, suite, n))
			return true;
		at += at[n] ? n + 1 : n;
	}
	return !*ktap_suites;
}

static bool first_of_suite(const struct ktest *t)
{
	const struct ktest *earlier;

	if (!is_wanted(t->suite))
		return false;
	for (earlier = __ktests_start; earlier < t; earlier++)
		if (same_suite(earlier, t))
			return false;
	return true;
}

/* Returns 1 if the test failed. */
static int run_test(const struct ktest *t, int number)
{
	const char *skip;

	ktap.failed = false;
	ktap.skip = NULL;
	t->run();
	skip = ktap.failed ? NULL : ktap.skip;
	emit("    %s %d %s%s%s\n", ktap.failed ? "not ok" : "ok", number, t->name,
	     skip ? " # SKIP " : "", skip ? skip : "");
	return ktap.failed;
}

static int run_suite(const struct ktest *first, int number)
{
	const struct ktest *t;
	int nr_tests = 0, failures = 0, n = 0;

	for (t = first; t < __ktests_end; t++)
		nr_tests += same_suite(t, first);
	emit("    KTAP version 1\n    # Subtest: %s\n    1..%d\n", first->suite, nr_tests);
	for (t = first; t < __ktests_end; t++)
		if (same_suite(t, first))
			failures += run_test(t, ++n);
	emit("%s %d %s\n", failures ? "not ok" : "ok", number, first->suite);
	return failures;
}

int ktap_run(void (*print)(const char *line))
{
	const struct ktest *t;
	int nr_suites = 0, failures = 0, n = 0;

	ktap.print = print;
	for (t = __ktests_start; t < __ktests_end; t++)
		nr_suites += first_of_suite(t);
	emit("KTAP version 1\n1..%d\n", nr_suites);
	for (t = __ktests_start; t < __ktests_end; t++)
		if (first_of_suite(t))
			failures += run_suite(t, ++n);
	return failures;
}
