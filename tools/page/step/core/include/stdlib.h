/* Memory that is never freed: an instance of the module is one run, and is discarded as a whole. See libc.c. */
#ifndef STEP_STDLIB_H
#define STEP_STDLIB_H

#include <stddef.h>

void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void free(void *memory);

#endif
