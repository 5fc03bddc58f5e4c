/*
 * 64-bit division: the compiler calls these functions by name.
 *
 * The compiler's own library also has them, but it expects all arguments on the stack, while with
 * -mregparm=3 the compiler passes the first in registers even here. Linked against that library,
 * every 64-bit division would silently return wrong results. So the kernel is linked without it and
 * has these functions, compiled like the rest.
 *
 * The CPU divides 64 by 32 bits if the quotient fits in 32. A divisor below 2^32 takes two such
 * steps, as in long division with two digits. For a larger divisor the quotient is below 2^32:
 * halve the dividend, divide by the divisor's upper 32 significant bits, scale back. That is the
 * quotient or one more (Warren, Hacker's Delight, 9-5): subtract one, and correct it if the
 * remainder requires it.
 */
#include "types.h"

u64 __udivmoddi4(u64 n, u64 d, u64 *rem);
u64 __udivdi3(u64 n, u64 d);
u64 __umoddi3(u64 n, u64 d);
s64 __divmoddi4(s64 n, s64 d, s64 *rem);
s64 __divdi3(s64 n, s64 d);
s64 __moddi3(s64 n, s64 d);

/* The quotient must fit: the high half of n is less than d. */
static inline u32 divl(u64 n, u32 d, u32 *rem)
{
	u32 quotient;

	asm("divl %4"
	    : "=a"(quotient), "=d"(*rem)
	    : "0"((u32)n), "1"((u32)(n >> 32)), "rm"(d)
	    : "cc");
	return quotient;
}

static u64 divide_by_small(u64 n, u32 d, u64 *rem)
{
	u32 high = (u32)(n >> 32), rest = 0, quotient_high = 0, quotient_low;

	if (high)
		quotient_high = divl(high, d, &rest);
	quotient_low = divl((u64)rest << 32 | (u32)n, d, &rest);
	*rem = rest;
	return (u64)quotient_high << 32 | quotient_low;
}

static u64 divide_by_large(u64 n, u64 d, u64 *rem)
{
	int shift = __builtin_clz((u32)(d >> 32));
	u32 unused;
	u64 quotient = divl(n >> 1, (u32)(d << shift >> 32), &unused) >> (31 - shift);

	if (quotient)
		quotient--;
	n -= quotient * d;
	if (n >= d) {
		n -= d;
		quotient++;
	}
	*rem = n;
	return quotient;
}

u64 __udivmoddi4(u64 n, u64 d, u64 *rem)
{
	return d >> 32 ? divide_by_large(n, d, rem) : divide_by_small(n, (u32)d, rem);
}

u64 __udivdi3(u64 n, u64 d)
{
	u64 rem;

	if (!((n | d) >> 32)) /* the most frequent case */
		return (u32)n / (u32)d;
	return __udivmoddi4(n, d, &rem);
}

u64 __umoddi3(u64 n, u64 d)
{
	u64 rem;

	__udivmoddi4(n, d, &rem);
	return rem;
}

static u64 magnitude(s64 n)
{
	return n < 0 ? -(u64)n : (u64)n;
}

/* Rounds towards zero, and the remainder has the dividend's sign, as C requires. */
s64 __divmoddi4(s64 n, s64 d, s64 *rem)
{
	u64 rest, quotient = __udivmoddi4(magnitude(n), magnitude(d), &rest);

	*rem = n < 0 ? (s64)-rest : (s64)rest;
	return (n < 0) != (d < 0) ? (s64)-quotient : (s64)quotient;
}

s64 __divdi3(s64 n, s64 d)
{
	s64 rem;

	return __divmoddi4(n, d, &rem);
}

s64 __moddi3(s64 n, s64 d)
{
	s64 rem;

	__divmoddi4(n, d, &rem);
	return rem;
}
