/* jitter=N: small shifts of time, different for each N; see lib/jitter.c. */
#ifndef LIB_JITTER_H
#define LIB_JITTER_H

#include "types.h"

extern u32 jitter; /* 0: off */

/* Returns the next shift, 0 <= shift < limit; always 0 without jitter=. Callable from
 * interrupts. */
u32 jitter_below(u32 limit);

#endif
