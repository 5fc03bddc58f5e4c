#include "host/rename.h"
#include "string.c"
#include "parse.c"
#include "lib/ktap.h"
#undef memcpy
#undef memset
#undef memmove
#undef memcmp
#undef strnlen

#define SIZE 96
#define GUARD 8

static void fill_random(u8 *p, size_t n, u32 *rnd)
{
	while (n--)
		*p++ = ktap_random(rnd);
}

/* Every alignment and length, against the C library; also compares the surrounding bytes. */
KTEST(string, memcpy_every_alignment)
{
	u8 a[SIZE], b[SIZE], src[SIZE];
	u32 rnd = ktap_seed_noted();
	size_t to, from, n;

	fill_random(src, SIZE, &rnd);
	for (to = 0; to < 4; to++)
		for (from = 0; from < 4; from++)
			for (n = 0; n < SIZE - GUARD; n++) {
				fill_random(a, SIZE, &rnd);
				memcpy(b, a, SIZE);
				memcpy(a + to, src + from, n);
				EXPECT_EQ(k_memcpy(b + to, src + from, n), b + to);
				EXPECT(!memcmp(a, b, SIZE));
			}
}

KTEST(string, memset_every_alignment)
{
	u8 a[SIZE], b[SIZE];
	u32 rnd = ktap_seed_noted();
	size_t to, n;

	for (to = 0; to < 4; to++)
		for (n = 0; n < SIZE - GUARD; n++) {
			fill_random(a, SIZE, &rnd);
			memcpy(b, a, SIZE);
			memset(a + to, 0x1a5, n);
			EXPECT_EQ(k_memset(b + to, 0x1a5, n), b + to);
			EXPECT(!memcmp(a, b, SIZE));
		}
}

KTEST(string, short_constant_sizes)
{
	u8 a[20] = "abcdefghijklmnop", b[20] = "ABCDEFGHIJKLMNOP";

	k_memcpy(a + 1, b + 1, 3);
	EXPECT_STREQ((char *)a, "aBCDefghijklmnop");
	k_memset(a, 'x', 5);
	EXPECT_STREQ((char *)a, "xxxxxfghijklmnop");
	k_memcpy(a, b, 16);
	EXPECT_STREQ((char *)a, "ABCDEFGHIJKLMNOP");
}

KTEST(string, memmove_overlapping)
{
	u8 a[SIZE], b[SIZE];
	u32 rnd = ktap_seed_noted();
	size_t to, from, n;

	for (to = 0; to < 20; to++)
		for (from = 0; from < 20; from++)
			for (n = 0; n < SIZE - 20; n += 3) {
				fill_random(a, SIZE, &rnd);
				memcpy(b, a, SIZE);
				memmove(a + to, a + from, n);
				EXPECT_EQ(k_memmove(b + to, b + from, n), b + to);
				EXPECT(!memcmp(a, b, SIZE));
			}
}

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

KTEST(string, memcmp_finds_the_first_difference)
{
	u8 a[SIZE], b[SIZE];
	u32 rnd = ktap_seed_noted();
	size_t n, at;

	for (n = 1; n < SIZE; n++)
		for (at = 0; at < n; at++) {
			fill_random(a, n, &rnd);
			memcpy(b, a, n);
			EXPECT_EQ(k_memcmp(a, b, n), 0);
			b[at] = ktap_random(&rnd);
			EXPECT_EQ(sign(k_memcmp(a, b, n)), sign(memcmp(a, b, n)));
		}
	EXPECT_EQ(k_memcmp("a", "b", 0), 0);
}

KTEST(string, lengths)
{
	char s[SIZE];
	size_t n, max;

	for (n = 0; n < SIZE; n++) {
		memset(s, 'x', SIZE);
		s[n] = '\0';
		EXPECT_EQ(strlen(s), n);
		for (max = 0; max <= SIZE; max++)
			EXPECT_EQ(k_strnlen(s, max), MIN(n, max));
	}
	EXPECT_EQ(k_strnlen("", 0), 0);
}

KTEST(string, comparisons)
{
	EXPECT_EQ(sign(strcmp("abc", "abd")), -1);
	EXPECT_EQ(sign(strcmp("ab", "abc")), -1);
	EXPECT_EQ(sign(strcmp("abc", "ab")), 1);
	EXPECT_EQ(sign(strcmp("\xff", "a")), 1);
	EXPECT_EQ(strcmp("", ""), 0);
	EXPECT_EQ(strncmp("abcx", "abcy", 3), 0);
	EXPECT_EQ(sign(strncmp("abcx", "abcy", 4)), -1);
	EXPECT_EQ(strncmp("ab", "ab", 9), 0);
	EXPECT_EQ(strncmp("a", "b", 0), 0);
}

KTEST(string, searches)
{
	const char *s = "banana";

	EXPECT_EQ(strchr(s, 'n'), s + 2);
	EXPECT_EQ(strchr(s, 'x'), NULL);
	EXPECT_EQ(strchr(s, '\0'), s + 6);
	EXPECT_EQ(strrchr(s, 'n'), s + 4);
	EXPECT_EQ(strrchr(s, '\0'), s + 6);
	EXPECT_EQ(strrchr(s, 'x'), NULL);
	EXPECT_EQ(strstr(s, "nan"), s + 2);
	EXPECT_EQ(strstr(s, "nanb"), NULL);
	EXPECT_EQ(strstr(s, ""), s);
	EXPECT_EQ(strstr(s, "bananas"), NULL);
	EXPECT_EQ(memchr(s, 'n', 2), NULL);
	EXPECT_EQ(memchr(s, 'n', 3), s + 2);
}

KTEST(string, bounded_copies_end_with_nul)
{
	char s[6] = "xxxxx";

	EXPECT_EQ(strlcpy(s, "abcdefgh", 4), 8);
	EXPECT_STREQ(s, "abc");
	EXPECT_EQ(s[4], 'x');
	EXPECT_EQ(strlcat(s, "def", sizeof(s)), 6);
	EXPECT_STREQ(s, "abcde");
	EXPECT_EQ(strlcpy(s, "", sizeof(s)), 0);
	EXPECT_STREQ(s, "");
	EXPECT_EQ(strlcpy(s, "abc", 0), 3);
	EXPECT_STREQ(s, "");
}

KTEST(parse, strtoull_bases)
{
	char *end;

	EXPECT_EQ(strtoull("123abc", &end, 10), 123);
	EXPECT_STREQ(end, "abc");
	EXPECT_EQ(strtoull("0x1fG", &end, 0), 0x1f);
	EXPECT_STREQ(end, "G");
	EXPECT_EQ(strtoull("0X1F", &end, 16), 0x1f);
	EXPECT_EQ(strtoull("0779", &end, 0), 077);
	EXPECT_STREQ(end, "9");
	EXPECT_EQ(strtoull("0x", &end, 0), 0);
	EXPECT_STREQ(end, "x");
	EXPECT_EQ(strtoull("x", &end, 0), 0);
	EXPECT_STREQ(end, "x");
	EXPECT_EQ(strtoull("99999999999999999999999", NULL, 10), UINT64_MAX);
}

KTEST(parse, whole_numbers)
{
	u64 v = 7;
	u32 w = 7;

	EXPECT_EQ(parse_u64("18446744073709551615", &v), 0);
	EXPECT_EQ(v, UINT64_MAX);
	EXPECT_EQ(parse_u64("18446744073709551616", &v), -ERANGE);
	EXPECT_EQ(parse_u64("", &v), -EINVAL);
	EXPECT_EQ(parse_u64("12 ", &v), -EINVAL);
	EXPECT_EQ(parse_u64("-1", &v), -EINVAL);
	EXPECT_EQ(parse_u32("4294967295", &w), 0);
	EXPECT_EQ(w, UINT32_MAX);
	EXPECT_EQ(parse_u32("4294967296", &w), -ERANGE);
	EXPECT_EQ(parse_u32("0x10", &w), 0);
	EXPECT_EQ(w, 16);
}

KTEST(parse, sizes)
{
	u64 v = 0;

	EXPECT_EQ(parse_size("64M", &v), 0);
	EXPECT_EQ(v, 64u << 20);
	EXPECT_EQ(parse_size("3g", &v), 0);
	EXPECT_EQ(v, 3ull << 30);
	EXPECT_EQ(parse_size("0x10k", &v), 0);
	EXPECT_EQ(v, 16384);
	EXPECT_EQ(parse_size("5", &v), 0);
	EXPECT_EQ(v, 5);
	EXPECT_EQ(parse_size("5Mb", &v), -EINVAL);
	EXPECT_EQ(parse_size("M", &v), -EINVAL);
	EXPECT_EQ(parse_size("5T", &v), -EINVAL);
	EXPECT_EQ(parse_size("18446744073709551615K", &v), -ERANGE);
}
