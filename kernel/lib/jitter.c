/*
 * One exact run is one sample. It is reproducible byte for byte, but a machine that pages is a
 * chaotic system: a microsecond more or less somewhere at the start decides which task faults
 * first, and after a minute the run is a different one. Runs that differ in nothing else show how
 * much of a result is chance. jitter=N produces such runs: the disk's position at the first request
 * varies (drivers/simdisk.c), and a new process starts up to a millisecond later (proc/fork.c).
 *
 * The shifts come from a separate generator, so the random numbers that programs see (seed=) are
 * the same for every N, and so are the results of the programs. The same N gives the same run, byte
 * for byte. With N = 0, as without the parameter, nothing is shifted.
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
