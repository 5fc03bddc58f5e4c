/*
 * Shrinkers: caches of other parts that give up objects when memory is short, as in Linux. Each
 * registers its function from its own file; reclaim knows none of them.
 */
#ifndef MM_SHRINKERS_H
#define MM_SHRINKERS_H

#include "types.h"

/* Frees unused objects, more of them the lower the priority (DEF_PRIORITY to 0). Returns the number
 * freed. Called in every pass of reclaim; never sleeps. */
typedef u32 shrink_fn(int priority);

/* SHRINKER(vfs_shrink); registers it. The linker puts all of them side by side. */
#define SHRINKER(function)                                                                         \
	static shrink_fn *const function##_entry                                                   \
		__attribute__((used, section(".shrinkers"))) = function

/* Calls all shrinkers and frees the slabs that are now empty. Returns the number of pages freed. */
u32 shrink_caches(int priority);

#endif
