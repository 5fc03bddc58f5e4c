/* The clocks of the ABI: shared by the files of syscall/ that read them, sleep and set alarms. */
#ifndef SYSCALL_CLOCK_H
#define SYSCALL_CLOCK_H

#include "types.h"

#define NSEC 1000000000u

enum {
	CLOCK_REALTIME,
	CLOCK_MONOTONIC,
	CLOCK_PROCESS_CPUTIME,
	CLOCK_THREAD_CPUTIME,
	CLOCK_MONOTONIC_RAW,
	CLOCK_REALTIME_COARSE,
	CLOCK_MONOTONIC_COARSE,
	CLOCK_BOOTTIME,
};

struct timeval32;

/* Sets *ns to the time of a clock. Returns 0, or -EINVAL if there is no such clock. */
int clock_read(u32 clock, u64 *ns);
/* Converts to seconds and microseconds, rounding down. */
struct timeval32 to_timeval(u64 ns);

#endif
