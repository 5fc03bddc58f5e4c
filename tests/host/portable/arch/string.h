/* memcpy and memset, for lib/string.h: the compiler's or the C library's. */
#ifndef ARCH_STRING_H
#define ARCH_STRING_H

#include "types.h"

void *memcpy(void *dst, const void *src, size_t n);
void *memset(void *dst, int byte, size_t n);

#endif
