#include "tsc_rate.h"

u32 tsc_mhz(u64 cycles, u32 ticks, u32 least)
{
	if (ticks < least / 2)
		ticks = least;
	return (cycles * PIT_HZ + ticks * 500000ull) / (ticks * 1000000ull);
}
