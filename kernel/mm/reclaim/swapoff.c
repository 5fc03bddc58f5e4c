/*
 * Switching a swap area off: all that lies there comes back into memory, and what does not fit leaves for
 * other areas.
 *
 * From the start no slot of the area is handed out any more, and a page that has one there, but all of
 * whose entries map it, gets another before it is evicted: so what is back stays away. Then, in the order of
 * their slots, pages are read in batches, a request for each run. When a batch is there, one walk over the
 * page tables of all processes (mm/space/unuse.c) maps what it finds of it, wherever it is shared, and the
 * slots become free. One walk for each batch, not one for each page, because walks cost more than the pages
 * do. Nobody owns the pages while they are read: the policy gets each as it is mapped, and drops its ghost
 * as the slot becomes free.
 *
 * Everything else goes on meanwhile: who faults on such a page reads it himself or finds it cached. It
 * ends early by a signal, by an I/O error, and when there is no room for a batch; then the area is used
 * again, with what is still there. That there is too little room to begin with is seen before anything is
 * read. Nobody is killed for it.
 */
#include "errno.h"
#include "../space/internal.h"
#include "mm/cache.h"
#include "mm/reclaim.h"
#include "mm/zone.h"
#include "proc/task.h"
#include "swap_internal.h"

#define BATCH 256u
#define BATCH_SHARE 64u /* a 64th of the frames at most: while they are read nobody can have them */

bool swap_leaving;

/* Frames that can be had without evicting anything. */
static u32 spare_frames(void)
{
	u32 spare = 0;

	for (int i = 0; i < MAX_ZONES; i++)
		spare += zone_spare(&zones[i]);
	if (frames_cap)
		spare = MIN(spare, frames_cap - MIN(frames_cap, frames_used));
	return spare;
}

/* Will all that lies only there fit into spare frames and other areas? */
static bool has_room(const struct swap_area *a)
{
	u32 needed = 0;

	for (u32 i = 0; i < a->nr; i++)
		needed += a->t.map[i] && !a->t.cache[i];
	return needed <= spare_frames() + swap_nr_free;
}

/* Waits for what has been read. 0 or -EIO. */
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
	static struct page *pages[BATCH]; /* swap_leaving keeps others out */
	u32 max = MIN(BATCH, nr_managed_pages() / BATCH_SHARE);
	u32 nr = swap_read_area(a, place, pages, max);
	int err = wait_read(pages, nr);

	unuse_slots(a->first, a->first + a->nr);
	shmem_unuse(a->first, a->first + a->nr);
	for (u32 i = 0; i < nr; i++)
		page_put(pages[i]);
	return nr < max && *place < a->nr ? -ENOMEM : err;
}

/* What is left is being worked on by reclaim, or came while we went through. */
static void wait_for_reclaim(void)
{
	if (reclaim_nr_writing())
		reclaim_wait_write();
	else
		reclaim_pause();
}

/* What could not be read, now or when it was read ahead, is tried once more. */
static int read_back(struct swap_area *a)
{
	bool again = false;
	u32 place = 0;
	int err = 0;

	swap_cache_prune(a);
	while (!err && swap_area_used(a)) {
		err = signal_pending(current) ? -EINTR : read_batch(a, &place);
		if (err == -EIO && !again) {
			again = true;
			err = 0;
		}
		if (place < a->nr)
			continue;
		swap_cache_prune(a);
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
