/* The clock for hooks (mm/hook_timer.h) on any host: the program's own virtual time, in ns, which
 * stands still while a hook runs. So no rule depends on the host's speed. */
#ifndef ARCH_TIME_H
#define ARCH_TIME_H

#include "types.h"

u64 cycles_now(void);
u64 clock_realtime_ns(void); /* nanoseconds since 1970 */
u64 clock_ns(void); /* for the tests that need it */

static inline u64 clock_stamp(void)
{
	return cycles_now();
}

static inline u64 cycles_to_ns(u64 cycles)
{
	return cycles;
}

#endif
