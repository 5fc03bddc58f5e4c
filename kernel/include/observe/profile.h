/* The tick profiler: kernel/observe/profile.c. */
#ifndef OBSERVE_PROFILE_H
#define OBSERVE_PROFILE_H

#include "types.h"

extern u32 profile_hz; /* 0: off */

void profile_init(void);
/* Sends the counts as telemetry. */
void profile_report(void);

#endif
