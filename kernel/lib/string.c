/*
 * Memory and strings. Searches for one byte use `repne scasb`, one instruction per byte instead of
 * the three of a loop. The rest is plain C.
 */
#include "lib/string.h"

/* The CPU allows unaligned access; the compiler must be told. */
typedef u32 __attribute__((aligned(1), may_alias)) unaligned_u32;

/* The header has inline versions. These are for calls that the compiler makes by itself, to copy or
 * clear a struct. */
void *memcpy(void *dst, const void *src, size_t n)
{
	void *to = dst;
	size_t count = n >> 2;

	__asm__ volatile("rep movsl" : "+D"(to), "+S"(src), "+c"(count)::"memory");
	count = n & 3;
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(src), "+c"(count)::"memory");
	return dst;
}

void *memset(void *dst, int byte, size_t n)
{
	void *to = dst;
	size_t count = n >> 2;
	u32 word = (u8)byte * 0x01010101u;

	__asm__ volatile("rep stosl" : "+D"(to), "+c"(count) : "a"(word) : "memory");
	count = n & 3;
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(word) : "memory");
	return dst;
}

/*
 * Copies forwards unless dst lies inside the source, else backwards in a plain loop: if the
 * direction flag were set, every interrupt handler would have to clear it. The barriers keep the
 * compiler from recognising a memmove in the loops and calling this function.
 */
void *memmove(void *dst, const void *src, size_t n)
{
	u8 *d = dst;
	const u8 *s = src;

	if ((uintptr_t)dst - (uintptr_t)src >= n)
		return memcpy(dst, src, n);
	while (n & 3) {
		n--;
		d[n] = s[n];
		barrier();
	}
	while (n) {
		n -= 4;
		*(unaligned_u32 *)(d + n) = *(const unaligned_u32 *)(s + n);
		barrier();
	}
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *p = a, *q = b;

	for (; n >= 4 && *(const unaligned_u32 *)p == *(const unaligned_u32 *)q; n -= 4) {
		p += 4;
		q += 4;
	}
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

void *memchr(const void *s, int c, size_t n)
{
	const u8 *p = s;

	for (; n; n--, p++)
		if (*p == (u8)c)
			return (void *)p;
	return NULL;
}

size_t strlen(const char *s)
{
	return strnlen(s, SIZE_MAX);
}

size_t strnlen(const char *s, size_t max)
{
	const char *p = s;
	size_t left = max;
	bool found;

	if (!max)
		return 0;
	__asm__("repne scasb" : "+D"(p), "+c"(left), "=@ccz"(found) : "a"(0) : "memory");
	return max - left - found;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	return 0;
}

size_t strlcpy(char *dst, const char *src, size_t size)
{
	size_t len = strlen(src);

	if (size) {
		size_t n = MIN(len, size - 1);

		memcpy(dst, src, n);
		dst[n] = '\0';
	}
	return len;
}

size_t strlcat(char *dst, const char *src, size_t size)
{
	size_t used = strnlen(dst, size);

	return used + strlcpy(dst + used, src, size - used);
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)s;
}

char *strrchr(const char *s, int c)
{
	const char *found = NULL;

	do {
		if (*s == (char)c)
			found = s;
	} while (*s++);
	return (char *)found;
}

char *strstr(const char *s, const char *what)
{
	size_t len = strlen(what);

	for (; strncmp(s, what, len); s++)
		if (!*s)
			return NULL;
	return (char *)s;
}
