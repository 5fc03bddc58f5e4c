#include "host/rename.h"
#include "string.c"
#include "printf.c"
#include "lib/ktap.h"
#include <limits.h>
#include <stdio.h>

/* The C library is the reference: both get the same formats and arguments. */
int host_snprintf(char *buf, size_t size, const char *fmt, ...) __asm__("snprintf");
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-overflow"
#pragma GCC diagnostic ignored "-Wformat-truncation"

#define SAME(...)                                                                                  \
	do {                                                                                       \
		char want[128], got[128];                                                          \
		int w = host_snprintf(want, sizeof(want), __VA_ARGS__);                            \
		int g = k_snprintf(got, sizeof(got), __VA_ARGS__);                                 \
		EXPECT_STREQ(got, want);                                                           \
		EXPECT_EQ(g, w);                                                                   \
	} while (0)

KTEST(printf, plain_text_and_percent)
{
	SAME("hello");
	SAME("%d%%", 5);
	SAME("%s", "");
}

KTEST(printf, integers)
{
	SAME("%d %i %u %x %X", 0, -1, -1, 0xbeef, 0xbeef);
	SAME("%d %d", INT_MIN, INT_MAX);
	SAME("%ld %lu %lx", LONG_MIN, ULONG_MAX, ULONG_MAX);
	SAME("%lld %llu %llx", LLONG_MIN, ULLONG_MAX, ULLONG_MAX);
	SAME("%llu %llu", 4294967296ull, 10000000000000000000ull);
	SAME("%hd %hu %hhd %hhu %hhx", 70000, 70000, 300, 300, -1);
	SAME("%zu %zd", (size_t)-1, (ssize_t)-1);
	SAME("%p", (void *)0xdeadbeef);
}

KTEST(printf, width_flags_precision)
{
	SAME("[%5d] [%-5d] [%05d] [%+d] [% d] [%+d]", 42, 42, 42, 42, 42, -42);
	SAME("[%8.3d] [%-8.3d] [%08.3d] [%.0d] [%5.0d]", 7, 7, 7, 0, 0);
	SAME("[%#x] [%#X] [%#x] [%#08x] [%#-8x]", 255, 255, 0, 255, 255);
	SAME("[%*d] [%-*d] [%*d] [%.*d]", 6, 1, 6, 1, -6, 1, 3, 1);
	SAME("[%.*d]", -1, 5);
	SAME("[%020lld]", -1ll);
	SAME("[%+05d] [% 05d] [%-+5d]", 3, 3, 3);
}

KTEST(printf, strings_and_characters)
{
	SAME("[%s] [%10s] [%-10s] [%.2s] [%10.2s]", "abc", "abc", "abc", "abc", "abc");
	SAME("[%.*s]", 2, "abc");
	SAME("[%c] [%3c] [%-3c]", 'x', 'y', 'z');
	SAME("%s", (char *)NULL);
}

KTEST(printf, cut_off_output_ends_with_nul)
{
	char got[8];
	size_t size;

	for (size = 0; size <= sizeof(got); size++) {
		memset(got, 'x', sizeof(got));
		EXPECT_EQ(k_snprintf(got, size, "%s%d", "abcd", 56), 6);
		if (size)
			EXPECT_EQ(got[MIN(size - 1, 6u)], '\0');
		if (size < sizeof(got))
			EXPECT_EQ(got[size], 'x');
	}
	EXPECT_EQ(scnprintf(got, 4, "%s", "abcdef"), 3);
	EXPECT_EQ(scnprintf(got, 0, "%s", "abcdef"), 0);
	EXPECT_EQ(scnprintf(got, 8, "%s", "ab"), 2);
}

KTEST(printf, unfinished_conversion_ends_the_text)
{
	char got[16];

	EXPECT_EQ(k_snprintf(got, sizeof(got), "ab%-5l"), 2);
	EXPECT_STREQ(got, "ab");
}

KTEST(printf, random_formats_match_the_c_library)
{
	static const char conversions[] = "diuxX", flags[] = "-+ #0";
	static const char *const lengths[] = { "", "h", "hh", "l", "ll" };
	u32 rnd = ktap_seed_noted();
	char fmt[32];
	int i, f;

	for (i = 0; i < 20000; i++) {
		u64 value = (u64)ktap_random(&rnd) << 32 | ktap_random(&rnd);
		const char *length = lengths[ktap_random(&rnd) % ARRAY_SIZE(lengths)];
		char *at = fmt;

		value >>= ktap_random(&rnd) % 64;
		*at++ = '%';
		for (f = 0; f < 5; f++)
			if (ktap_random(&rnd) % 4 == 0)
				*at++ = flags[f];
		if (ktap_random(&rnd) & 1)
			at += sprintf(at, "%u", 1 + ktap_random(&rnd) % 25);
		if (ktap_random(&rnd) & 1)
			at += sprintf(at, ".%u", ktap_random(&rnd) % 25);
		sprintf(at, "%s%c|", length, conversions[ktap_random(&rnd) % 5]);
		SAME(fmt, value);
	}
}
