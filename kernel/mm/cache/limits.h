/* When to write dirty pages: pure decisions (limits.c). Units: pages, hundredths of a second. */
#ifndef CACHE_LIMITS_H
#define CACHE_LIMITS_H

#include "types.h"

struct dirty_knobs {
	u32 background_ratio, ratio;   /* % of the pages that could be dirty */
	u32 expire_centisecs, writeback_centisecs;
	u32 laptop_seconds;            /* 0: laptop mode is off */
};

/* Maximum number of pages dirty or being written before writers must wait. */
u32 dirty_limit(const struct dirty_knobs *k, u32 dirtyable);
/* Number of dirty pages above which writing starts at once. */
u32 dirty_background(const struct dirty_knobs *k, u32 dirtyable);
/* Has a file been dirty for so long that it must be written now? */
bool dirty_expired(const struct dirty_knobs *k, u64 now_ns, u64 dirtied_ns);
/* When to check for dirty pages again, ns; 0: never. */
u64 dirty_look_ns(const struct dirty_knobs *k, u64 now_ns);

#endif
