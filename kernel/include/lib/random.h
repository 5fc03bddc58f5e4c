/* Pseudo-random bytes: identical for the same seed=, so that exact runs repeat. Not secret. */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include "types.h"

void random_bytes(void *buf, size_t n);

#endif
