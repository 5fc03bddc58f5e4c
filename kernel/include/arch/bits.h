/* Changes bits of a word by a single instruction, so no interrupt can come in between. */
#ifndef ARCH_BITS_H
#define ARCH_BITS_H

#include "types.h"

static inline void bits_set(u32 *word, u32 bits)
{
	__asm__ volatile("orl %1, %0" : "+m"(*word) : "ri"(bits));
}

static inline void bits_clear(u32 *word, u32 bits)
{
	__asm__ volatile("andl %1, %0" : "+m"(*word) : "ri"(~bits));
}

#endif
