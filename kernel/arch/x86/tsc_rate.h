/* How fast the TSC runs. */
#ifndef ARCH_X86_TSC_RATE_H
#define ARCH_X86_TSC_RATE_H

#include "types.h"

#define PIT_HZ 1193182u

/*
 * MHz, rounded, of a TSC that counted so many cycles while the PIT, read before and after, counted
 * so many ticks. At least `least` have passed: a PIT that says much less cannot be read.
 */
u32 tsc_mhz(u64 cycles, u32 ticks, u32 least);

#endif
