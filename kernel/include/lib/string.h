/*
 * Memory and strings as in the C standard, and parsing numbers (lib/parse.c). lib/string.c has the
 * out-of-line copies of memcpy and memset, which the compiler calls by itself.
 */
#ifndef LIB_STRING_H
#define LIB_STRING_H

#include "arch/string.h" /* memcpy memset */
#include "types.h"

/* The blocks may overlap. */
void *memmove(void *dst, const void *src, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);

size_t strlen(const char *s);
/* Reads at most max bytes. */
size_t strnlen(const char *s, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
/* Copies, and NUL-terminates if size > 0. Returns strlen(src); truncated if >= size. */
size_t strlcpy(char *dst, const char *src, size_t size);
/* Appends likewise. Returns the length of the untruncated result. */
size_t strlcat(char *dst, const char *src, size_t size);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *what);

/*
 * Parses a number in base 10, 16 or 8; base 0: chosen by its prefix (0x, 0, else decimal). Accepts
 * no sign and no blanks. Sets *end, unless end is NULL, to the first character after the number (s
 * itself if there was none). A number that does not fit yields the largest value.
 */
unsigned long long strtoull(const char *s, char **end, int base);

/* Parse all of s as a number (base 0). Return 0, -EINVAL if not a number, or -ERANGE if too
 * large. */
int parse_u64(const char *s, u64 *out);
int parse_u32(const char *s, u32 *out);
/* parse_u64 with an optional suffix K, M or G (or k, m, g): units of 2^10, 2^20, 2^30. */
int parse_size(const char *s, u64 *out);

#endif
