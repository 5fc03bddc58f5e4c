/*
 * The part of the C library's streams that tools/vmsim needs. There is no C library here: streams end in memory
 * (libc.c).
 */
#ifndef STEP_STDIO_H
#define STEP_STDIO_H

#include <stdarg.h>
#include <stddef.h>

struct stream {
	char *text;
	size_t length, size; /* used, and allocated */
	char **text_seen; /* of open_memstream: the caller's variable */
	size_t *length_seen;
};
typedef struct stream FILE;

extern FILE step_out, step_err;
#define stdout (&step_out)
#define stderr (&step_err)

int vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
int snprintf(char *buf, size_t size, const char *fmt, ...);
int vfprintf(FILE *to, const char *fmt, va_list args);
int fprintf(FILE *to, const char *fmt, ...);
int printf(const char *fmt, ...);
int fputs(const char *text, FILE *to);
int puts(const char *text);
int putchar(int c);
FILE *open_memstream(char **text, size_t *length);
long ftell(FILE *to);
int fflush(FILE *to);
int fclose(FILE *to);

#endif
