/* The C library's functions instead of the kernel's: the sanitizers know them. */
#ifndef LIB_PRINTF_H
#define LIB_PRINTF_H

#include "types.h"
#include <stdarg.h>
#include <stdio.h>

int printk(const char *fmt, ...) __printf(1, 2); /* to stderr; tests/host/fakes.c */

static inline int __printf(3, 4) scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return !size ? 0 : MIN(n, (int)size - 1);
}

#endif
