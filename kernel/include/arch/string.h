/*
 * memcpy and memset as in the C standard, for lib/string.h. They are inline string instructions
 * that move four bytes per iteration, since an exact run counts each iteration as one instruction.
 * Short blocks of constant size become plain moves.
 */
#ifndef ARCH_STRING_H
#define ARCH_STRING_H

#include "types.h"

#define STRING_INLINE extern inline __attribute__((gnu_inline, always_inline))
#define STRING_SHORT(n) (__builtin_constant_p(n) && (n) <= 16)

STRING_INLINE void *memcpy(void *dst, const void *src, size_t n)
{
	void *to = dst;
	size_t count = n >> 2;

	if (STRING_SHORT(n))
		return __builtin_memcpy(dst, src, n);
	__asm__ volatile("rep movsl" : "+D"(to), "+S"(src), "+c"(count)::"memory");
	if (__builtin_constant_p(n) && !(n & 3))
		return dst;
	count = n & 3;
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(src), "+c"(count)::"memory");
	return dst;
}

STRING_INLINE void *memset(void *dst, int byte, size_t n)
{
	void *to = dst;
	size_t count = n >> 2;
	u32 word = (u8)byte * 0x01010101u;

	if (STRING_SHORT(n))
		return __builtin_memset(dst, byte, n);
	__asm__ volatile("rep stosl" : "+D"(to), "+c"(count) : "a"(word) : "memory");
	if (__builtin_constant_p(n) && !(n & 3))
		return dst;
	count = n & 3;
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(word) : "memory");
	return dst;
}

#endif
