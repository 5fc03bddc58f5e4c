/* The tick profiler: kernel/observe/profile.c. */
#ifndef OBSERVE_PROFILE_H
#define OBSERVE_PROFILE_H

#include "types.h"

extern u32 profile_hz; /* 0: off */

#endif
