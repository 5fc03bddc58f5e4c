/*
 * The part of a C library that tools/vmsim and the policies need, for a WebAssembly module without one. Strings and
 * numbers are the kernel's own (lib/string.c, lib/printf.c); this file has memory and streams.
 *
 * One run is one instance of the module, and its memory is discarded as a whole: so nothing is freed, and allocations
 * are taken from the end of memory, which is zeroed. A stream is text in memory: the page reads step_out (step.c), and
 * only one stream made by open_memstream exists at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WASM_PAGE 65536u
#define ALIGNMENT 8u

enum { OUT_SIZE = 1 << 20, ERR_SIZE = 1 << 14, MEM_SIZE = 1 << 19 };

extern char __heap_base; /* set by the linker: after all variables, and the stack */
static char *next = &__heap_base;

void *malloc(size_t size)
{
	char *memory = next, *end = next + (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	size_t there = __builtin_wasm_memory_size(0) * WASM_PAGE;

	if ((size_t)end > there && __builtin_wasm_memory_grow(0, ((size_t)end - there + WASM_PAGE -
								  1) / WASM_PAGE) == (size_t)-1)
		return NULL;
	next = end;
	return memory;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

void free(void *memory)
{
	(void)memory;
}

static char out_text[OUT_SIZE], err_text[ERR_SIZE], mem_text[MEM_SIZE];
FILE step_out = { .text = out_text, .size = OUT_SIZE };
FILE step_err = { .text = err_text, .size = ERR_SIZE };
static FILE mem = { .text = mem_text, .size = MEM_SIZE };

/* Text that does not fit is dropped; the length shows it. */
int vfprintf(FILE *to, const char *fmt, va_list args)
{
	size_t room = to->length < to->size ? to->size - to->length : 0;
	int n = vsnprintf(room ? to->text + to->length : NULL, room, fmt, args);

	to->length += n;
	return n;
}

int fprintf(FILE *to, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vfprintf(to, fmt, args);
	va_end(args);
	return n;
}

int printf(const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vfprintf(stdout, fmt, args);
	va_end(args);
	return n;
}

int fputs(const char *text, FILE *to)
{
	return fprintf(to, "%s", text);
}

int puts(const char *text)
{
	return printf("%s\n", text);
}

int putchar(int c)
{
	return printf("%c", c);
}

FILE *open_memstream(char **text, size_t *length)
{
	mem.length = 0;
	mem.text_seen = text;
	mem.length_seen = length;
	fflush(&mem);
	return &mem;
}

long ftell(FILE *to)
{
	return to->length;
}

int fflush(FILE *to)
{
	if (to->text_seen) {
		*to->text_seen = to->text;
		*to->length_seen = to->length;
	}
	return 0;
}

int fclose(FILE *to)
{
	return fflush(to);
}
