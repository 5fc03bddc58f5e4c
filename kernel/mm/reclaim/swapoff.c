/*
 * Switching a swap area off: all its pages are read back into memory; pages that do not fit are
 * evicted to other areas.
 *
 * From the start no slot of the area is allocated any more. A page that has a slot there, but is
 * mapped by all its entries, gets a slot elsewhere before it is evicted, so pages do not return to
 * the area. Then, in the order of their slots, pages are read in batches, with one request for each
 * run. After each batch, one walk over the page tables of all processes (mm/space/unuse.c) maps its
 * pages wherever they are shared, and the slots become free. There is one walk per batch, not one
 * per page, because a walk costs more than reading a page. Pages are unowned while they are read:
 * the policy gets each page when it is mapped, and drops its ghost when the slot becomes free.
 *
 * Everything else continues meanwhile: a process that faults on such a page reads it itself or
 * finds it cached. swapoff ends early on a signal, on an I/O error, or if there is no room for a
 * batch. Then the area is used again, with the pages that are still there. If there is too little
 * room to begin with, swapoff fails before anything is read. No process is killed for it.
 */
#include "errno.h"
#include "mm/cache.h"
#include "mm/mm.h"
#include "mm/reclaim.h"
#include "mm/frames.h"
#include "mm/zone.h"
#include "sched/current.h"
#include "swap_internal.h"

#define BATCH 256u
#define BATCH_SHARE 64u /* at most 1/64 of the frames: they are not available while being read */

bool swap_leaving;

/* Number of frames available without evicting any page. */
static u32 spare_frames(void)
{
	u32 spare = 0;

	for (int i = 0; i < MAX_ZONES; i++)
		spare += zone_spare(&zones[i]);
	if (frames_cap)
		spare = MIN(spare, frames_cap - MIN(frames_cap, frames_used));
	return spare;
}

/* Do all pages that are only in this area fit into spare frames and other areas? */
static bool has_room(const struct swap_area *a)
{
	u32 needed = 0;

	for (u32 i = 0; i < a->nr; i++)
		needed += a->t.map[i] && !a->t.cache[i];
	return needed <= spare_frames() + swap_nr_free;
}

/* Waits until the pages have been read. Returns 0 or -EIO. */
static int wait_read(struct page **pages, u32 nr)
{
	int err = 0;

	for (u32 i = 0; i < nr; i++) {
		struct page *page = pages[i];

		page_wait_unlocked(page);
		if (!page_test(page, PG_error) || page_test(page, PG_uptodate))
			continue;
		err = -EIO;
		if (page_test(page, PG_swapcache))
			swap_cache_del(page);
	}
	return err;
}

static int read_batch(struct swap_area *a, u32 *place)
{
	static struct page *pages[BATCH]; /* swap_leaving keeps other tasks out */
	u32 max = MIN(BATCH, nr_managed_pages() / BATCH_SHARE);
	u32 nr = swap_read_area(a, place, pages, max);
	int err = wait_read(pages, nr);

	unuse_slots(a->first, a->first + a->nr);
	shmem_unuse(a->first, a->first + a->nr);
	for (u32 i = 0; i < nr; i++)
		page_put(pages[i]);
	return nr < max && *place < a->nr ? -ENOMEM : err;
}

/* Waits because the remaining slots are in use by reclaim, or came into use during the scan. */
static void wait_for_reclaim(void)
{
	if (reclaim_nr_writing())
		reclaim_wait_write();
	else
		reclaim_pause();
}

/* Removes from the swap cache the frames whose slots no entry names, except frames in use by reclaim or I/O. */
static void prune_cache(struct swap_area *a)
{
	for (u32 i = 0; i < a->nr && swap_area_used(a); i++) {
		struct page *page = a->t.cache[i];

		if (a->t.map[i] || !page || swap_place_forbidden(a, i))
			continue;
		if (!page_test(page, PG_isolated) && !page_test(page, PG_locked))
			swap_cache_del(page);
	}
}

/* Reads all pages of the area back. Those that could not be read, now or earlier by read-ahead, are
 * tried once more. */
static int read_back(struct swap_area *a)
{
	bool again = false;
	u32 place = 0;
	int err = 0;

	prune_cache(a);
	while (!err && swap_area_used(a)) {
		err = signal_pending(current) ? -EINTR : read_batch(a, &place);
		if (err == -EIO && !again) {
			again = true;
			err = 0;
		}
		if (place < a->nr)
			continue;
		prune_cache(a);
		place = 0;
		if (!err && swap_area_used(a))
			wait_for_reclaim();
	}
	return err;
}

static struct swap_area *area_on(const struct block_device *bdev)
{
	struct swap_area *a;

	for_each_swap_area(a)
		if (a->bdev == bdev && !a->file)
			return a;
	return NULL;
}

int swap_area_leave(struct swap_area *a)
{
	int err;

	if (swap_leaving)
		return -EBUSY;
	swap_leaving = true;
	swap_area_close(a);
	err = has_room(a) ? read_back(a) : -ENOMEM;
	swap_leaving = false;
	if (err)
		swap_area_open(a, a->prio);
	else
		swap_area_end(a);
	return err;
}

int swap_area_off(struct block_device *bdev)
{
	struct swap_area *a = area_on(bdev);

	return a ? swap_area_leave(a) : -EINVAL;
}
