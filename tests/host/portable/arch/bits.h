/* Bits of a word; there are no interrupts here. */
#ifndef ARCH_BITS_H
#define ARCH_BITS_H

#include "types.h"

static inline void bits_set(u32 *word, u32 bits)
{
	*word |= bits;
}

static inline void bits_clear(u32 *word, u32 bits)
{
	*word &= ~bits;
}

#endif
