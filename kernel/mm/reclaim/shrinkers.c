/* Asks the registered shrinkers for memory: mm/shrinkers.h. */
#include "mm/shrinkers.h"

#include "mm/slab.h"

extern shrink_fn *const __shrinkers_start[], *const __shrinkers_end[];

u32 shrink_caches(int priority)
{
	u32 gone = 0;

	for (shrink_fn *const *shrink = __shrinkers_start; shrink < __shrinkers_end; shrink++)
		gone += (*shrink)(priority);
	return gone ? slab_reap() : 0;
}
