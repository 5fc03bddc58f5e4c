/* The C library's functions instead of the kernel's: the sanitizers know them. */
#ifndef LIB_STRING_H
#define LIB_STRING_H

#include "types.h"
#include <stdlib.h>
#include <string.h>

/* kernel/lib/parse.c, for tests that include it. */
int parse_u64(const char *s, u64 *out);
int parse_u32(const char *s, u32 *out);
int parse_size(const char *s, u64 *out);

#define strlcpy host_strlcpy
#define strlcat host_strlcat

static inline size_t strlcpy(char *dst, const char *src, size_t size)
{
	size_t len = strlen(src), n = MIN(len, size ? size - 1 : 0);

	memcpy(dst, src, n);
	if (size)
		dst[n] = '\0';
	return len;
}

static inline size_t strlcat(char *dst, const char *src, size_t size)
{
	size_t used = strnlen(dst, size);

	return used + strlcpy(dst + used, src, size - used);
}

#endif
