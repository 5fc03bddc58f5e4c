/* The mixing function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, 2014). Applied to a counter in steps of MIX64_STEP, it gives pseudo-random
 * numbers. */
#ifndef LIB_MIX64_H
#define LIB_MIX64_H

#include "types.h"

#define MIX64_STEP 0x9E3779B97F4A7C15ull /* 2^64 divided by the golden ratio */

u64 mix64(u64 z);

#endif
