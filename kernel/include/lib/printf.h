/*
 * Formatted output to a buffer, and printk.
 *
 * Conversions: d i u x X p s c %; flags 0 - + space #; width and precision, also as *; lengths hh h
 * l ll z. No floating point. As in C, the result is the length without the NUL that an unlimited
 * buffer would hold; size 0 writes nothing. %s of NULL prints (null).
 */
#ifndef LIB_PRINTF_H
#define LIB_PRINTF_H

#include "types.h"
#include <stdarg.h>

int vsnprintf(char *buf, size_t size, const char *fmt, va_list args) __printf(3, 0);
int snprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);

/* Like snprintf, but returns the number of characters actually written, so that calls can be
 * chained. */
int scnprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);

/* Prints to the console and the kernel log. Returns the characters printed. Any context; never
 * sleeps. */
int printk(const char *fmt, ...) __printf(1, 2);

#endif
