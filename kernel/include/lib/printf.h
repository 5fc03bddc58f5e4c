/*
 * Formatted output to a buffer, and printk.
 *
 * Conversions: d i u x X p s c %; flags 0 - + space #; width and precision, also as *; lengths
 * hh h l ll z. No floating point. Behaviour as in C: the result is what would have been written
 * to an endless buffer, without the NUL; size 0 writes nothing. %s of NULL prints (null).
 */
#ifndef LIB_PRINTF_H
#define LIB_PRINTF_H

#include "types.h"
#include <stdarg.h>

int vsnprintf(char *buf, size_t size, const char *fmt, va_list args) __printf(3, 0);
int snprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);

/* The same, but returns what was really written, so that pieces can be strung together. */
int scnprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);

/* To the console and the kernel log; returns the characters printed. Any context; never sleeps. */
int printk(const char *fmt, ...) __printf(1, 2);

#endif
