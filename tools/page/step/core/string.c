/* Memory and string functions of the C standard. The kernel's own are for its processor (lib/string.c). */
#include <string.h>

void *memcpy(void *dst, const void *src, size_t n)
{
	return memmove(dst, src, n);
}

void *memmove(void *dst, const void *src, size_t n)
{
	const char *from = src;
	char *to = dst;

	if (to < from)
		while (n--)
			*to++ = *from++;
	else
		while (n--)
			to[n] = from[n];
	return dst;
}

void *memset(void *dst, int byte, size_t n)
{
	for (char *to = dst; n--;)
		*to++ = byte;
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	while (n && *x == *y)
		n--, x++, y++;
	return n ? *x - *y : 0;
}

size_t strlen(const char *s)
{
	return strnlen(s, (size_t)-1);
}

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, (size_t)-1);
}

int strncmp(const char *a, const char *b, size_t n)
{
	while (n && *a && *a == *b)
		n--, a++, b++;
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

char *strchr(const char *s, int c)
{
	while (*s && *s != (char)c)
		s++;
	return *s == (char)c ? (char *)s : NULL;
}
