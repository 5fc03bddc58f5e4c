/*
 * The frames of processes and files: the last reference frees a frame; and the cap on user frames
 * (frames=N), for experiments with a handful of frames.
 *
 * The cap counts the frames of anonymous memory that are not locked and, with frames_files=1, those
 * of pages of files on disks: exactly those that policies replace. A fault or read that would exceed
 * the cap first has a page evicted and waits until that page's frame is free; so with frames=3 there
 * are never more than 3. Pages that are read ahead take only frames that are free. Locked pages
 * (mlock), shared memory, metadata and the kernel do not count.
 */
#include "lib/param.h"
#include "mm/cache.h"
#include "mm/oom.h"
#include "mm/reclaim.h"
#include "mm/starve.h"
#include "mm/frames.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "sched/current.h"

u32 frames_cap, frames_used;

/* One instruction may need two pages of data and two of stack. */
PARAM_U32("frames", frames_cap, 3, 1u << 20, "pages", "cap on user frames; none unless given");

bool frames_try_charge(void)
{
	if (frames_cap && frames_used >= frames_cap)
		return false;
	frames_used++;
	return true;
}

static bool dying(void)
{
	return fatal_signal_pending(current) || current->flags & TF_OOM_VICTIM;
}

/* Frames that count against the cap and that the policy owns. */
static u32 nr_owned(void)
{
	u32 nr = 0;

	if (likely(!cache_nr_stored))
		return zones_nr_owned();
	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		nr += page_test(pfn_page(pfn), PG_owned) && page_is_capped(pfn_page(pfn));
	return nr;
}

/* Is a frame unowned for the moment, because it is being read or written or is not mapped yet? */
static bool frame_in_flight(void)
{
	return frames_used > nr_owned();
}

static void make_room(void)
{
	reclaim_begin();
	if (!reclaim_one_capped() && !dying()) {
		if (frame_in_flight())
			reclaim_pause();
		else
			out_of_memory();
	}
	reclaim_end();
}

void frames_charge(void)
{
	while (unlikely(starve_must_wait() || !frames_try_charge())) {
		if (dying()) {
			frames_used++; /* a dying task needs memory to exit */
			return;
		}
		if (starve_must_wait())
			reclaim_pause();
		else
			make_room();
	}
}

void frames_uncharge(void)
{
	frames_used--;
}

void page_put(struct page *p)
{
	u32 keep = 3u << PG_zone_shift;

	ASSERT(p->count > 0);
	if (--p->count)
		return;
	ASSERT(!p->mapcount);
	ASSERT(!page_test(p, PG_swapcache) && !page_test(p, PG_isolated));
	if (page_test(p, PG_owned))
		policy_call_remove(p, VM_OUT_FREED);
	if (page_is_capped(p) && !page_test(p, PG_mlocked))
		frames_uncharge();
	p->flags &= keep;
	p->count = 1;
	free_pages(p, 0);
}
