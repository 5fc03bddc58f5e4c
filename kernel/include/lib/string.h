/*
 * Memory and strings as in the C standard, and numbers from text (lib/parse.c). lib/string.c holds
 * the out-of-line copies of memcpy and memset that the compiler calls by itself.
 */
#ifndef LIB_STRING_H
#define LIB_STRING_H

#include "arch/string.h" /* memcpy memset */
#include "types.h"

/* The two may overlap. */
void *memmove(void *dst, const void *src, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);

size_t strlen(const char *s);
/* Looks at no more than max bytes. */
size_t strnlen(const char *s, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
/* Copies and always ends with NUL if size > 0; returns strlen(src): >= size means cut off. */
size_t strlcpy(char *dst, const char *src, size_t size);
/* The same for appending; returns the length it tried to make. */
size_t strlcat(char *dst, const char *src, size_t size);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *what);

/*
 * Reads a number: base 10, 16 or 8, or 0: by its prefix (0x, 0, else decimal). *end, unless end is
 * NULL, is the first character that does not belong to it (s itself: there was no number). No
 * sign, no blanks. A number that does not fit yields the largest value.
 */
unsigned long long strtoull(const char *s, char **end, int base);

/* The whole of s as a number (base 0). 0, -EINVAL: not a number, -ERANGE: does not fit. */
int parse_u64(const char *s, u64 *out);
int parse_u32(const char *s, u32 *out);
/* The same with an optional suffix K, M or G (or k, m, g): units of 2^10, 2^20, 2^30. */
int parse_size(const char *s, u64 *out);

#endif
