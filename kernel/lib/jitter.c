/*
 * One exact run is one sample. It repeats to the byte, but a machine that pages is a chaotic
 * system: a microsecond more or less somewhere at the start decides who faults first, and after a
 * minute the run is another one. How much of a result is chance shows in runs that differ in
 * nothing else. jitter=N makes them: the disk is found in some position when the first request
 * comes (drivers/simdisk.c), and a new process begins up to a millisecond later (proc/fork.c).
 *
 * The shifts come from a generator of their own, so the random numbers that programs see (seed=)
 * are the same under every N, and so is what the programs compute. The same N gives the same run,
 * to the byte. With N = 0, as without the parameter, nothing is shifted.
 */
#include "lib/jitter.h"

#include "lib/mix64.h"
#include "lib/param.h"

u32 jitter;
static u64 counter;

PARAM_U32("jitter", jitter, 0, UINT32_MAX, NULL, "small shifts of time, others for each; 0: none",
	  AT_BOOT);

u32 jitter_below(u32 limit)
{
	if (!jitter)
		return 0;
	counter += MIX64_STEP;
	return (mix64(counter + ((u64)jitter << 32)) >> 32) * limit >> 32;
}
