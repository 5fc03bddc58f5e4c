/* The rate of the TSC. */
#ifndef ARCH_X86_TSC_RATE_H
#define ARCH_X86_TSC_RATE_H

#include "types.h"

#define PIT_HZ 1193182u

/*
 * Returns the rate in MHz, rounded, of a TSC that counted `cycles` while the PIT, read before and
 * after, counted `ticks`. At least `least` ticks have passed: a PIT with a much lower count is
 * unreadable.
 */
u32 tsc_mhz(u64 cycles, u32 ticks, u32 least);

#endif
