/* The kernel's functions, by number; symbols.c. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include "plugin.h"

#pragma GCC visibility push(hidden)

enum { MAX_FUNCTIONS = 1 << 14 };

/* Reads the file once, at the start. Fails if it has no function of the kernel. */
void symbols_read(const char *file_name);
size_t symbols_count(void);
const char *symbol_name(size_t function);
/* Is @pc the function's first instruction? */
bool symbol_begins(size_t function, uint32_t pc);
/* Returns the last function at or below @pc, or the first function if @pc lies before them all. */
size_t symbol_of(uint32_t pc);

#pragma GCC visibility pop

#endif
