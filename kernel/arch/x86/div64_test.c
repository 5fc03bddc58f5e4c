/*
 * Compares 64-bit division with a bitwise division. The functions get other names, because the
 * sanitizers' libraries divide, too, and must not use these.
 */
#define __udivmoddi4 kernel_udivmoddi4
#define __udivdi3 kernel_udivdi3
#define __umoddi3 kernel_umoddi3
#define __divmoddi4 kernel_divmoddi4
#define __divdi3 kernel_divdi3
#define __moddi3 kernel_moddi3
#include "div64.c"
#include "lib/ktap.h"

static u64 divide_by_bits(u64 n, u64 d, u64 *rem)
{
	u64 quotient = 0, rest = 0;

	for (int bit = 63; bit >= 0; bit--) {
		bool carry = rest >> 63;

		rest = rest << 1 | (n >> bit & 1);
		if (carry || rest >= d) {
			rest -= d;
			quotient |= 1ull << bit;
		}
	}
	*rem = rest;
	return quotient;
}

static void expect_division(u64 n, u64 d)
{
	u64 rest, rem, quotient = divide_by_bits(n, d, &rest);

	EXPECT_EQ(__udivmoddi4(n, d, &rem), quotient);
	EXPECT_EQ(rem, rest);
	EXPECT_EQ(__udivdi3(n, d), quotient);
	EXPECT_EQ(__umoddi3(n, d), rest);
}

KTEST(div64, edges_of_the_words)
{
	static const u64 edges[] = { 0,
				     1,
				     2,
				     3,
				     0x7FFFFFFF,
				     0x80000000,
				     0xFFFFFFFE,
				     0xFFFFFFFF,
				     1ull << 32,
				     (1ull << 32) + 1,
				     0x1FFFFFFFF,
				     0x7FFFFFFFFFFFFFFF,
				     1ull << 63,
				     0xFFFFFFFF00000000,
				     0xFFFFFFFEFFFFFFFF,
				     0xFFFFFFFFFFFFFFFF };
	const int nr = sizeof(edges) / sizeof(edges[0]);

	for (int i = 0; i < nr; i++)
		for (int j = 1; j < nr; j++)
			expect_division(edges[i], edges[j]);
}

KTEST(div64, random_operands_of_every_length)
{
	u32 state = 1;

	for (int i = 0; i < 20000; i++) {
		u64 n = (u64)ktap_random(&state) << 32 | ktap_random(&state);
		u64 d = (u64)ktap_random(&state) << 32 | ktap_random(&state);

		d >>= ktap_random(&state) % 64;
		expect_division(n >> ktap_random(&state) % 64, d ? d : 1);
	}
}

KTEST(div64, signs_follow_c)
{
	s64 rem;

	EXPECT_EQ(__divdi3(-7, 2), -3);
	EXPECT_EQ(__moddi3(-7, 2), -1);
	EXPECT_EQ(__divdi3(7, -2), -3);
	EXPECT_EQ(__moddi3(7, -2), 1);
	EXPECT_EQ(__divmoddi4(-(1ll << 62), -(1ll << 33), &rem), 1ll << 29);
	EXPECT_EQ(rem, 0);
}
