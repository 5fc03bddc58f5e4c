/*
 * The parameters of writeback, with Linux's names and meanings. The pages that could be dirty are
 * the free frames and the frames that hold pages of files with a store.
 */
#include "limits.h"

#define MIN_LIMIT 16u /* pages; a lower limit would make a writer wait for every page */
#define CENTISEC_NS 10000000ull

static u32 part(u32 pages, u32 percent)
{
	return (u64)pages * percent / 100;
}

u32 dirty_limit(const struct dirty_knobs *k, u32 dirtyable)
{
	return MAX(part(dirtyable, k->ratio), MIN_LIMIT);
}

/* Always below dirty_limit, so that writing starts before writers must wait. */
u32 dirty_background(const struct dirty_knobs *k, u32 dirtyable)
{
	u32 limit = dirty_limit(k, dirtyable), pages = part(dirtyable, k->background_ratio);

	return pages < limit ? pages : limit / 2;
}

/* Must a page be written that is dirty since dirtied_ns? With a long time, pages wait until the disk
 * runs anyway. */
bool dirty_expired(const struct dirty_knobs *k, u64 now_ns, u64 dirtied_ns)
{
	return now_ns - dirtied_ns >= k->expire_centisecs * CENTISEC_NS;
}

u64 dirty_look_ns(const struct dirty_knobs *k, u64 now_ns)
{
	return k->writeback_centisecs ? now_ns + k->writeback_centisecs * CENTISEC_NS : 0;
}
