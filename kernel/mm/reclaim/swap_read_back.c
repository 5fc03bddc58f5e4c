/*
 * Reading a swap area back into memory, in the order of its slots, for swapoff. Consecutive slots are
 * read by one request. No process is killed for the frames.
 */
#include "mm/frames.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "swap_internal.h"

/* Like swap_add_frame, but never kills a process to get the frame. */
static struct page *add_frame_gently(u32 slot)
{
	struct page *page;

	while (!frames_try_charge()) {
		bool some;

		reclaim_begin();
		some = reclaim_one_capped();
		reclaim_end();
		if (!some)
			return NULL;
	}
	page = swap_add_frame(slot, GFP_USER | GFP_NORETRY);
	if (!page)
		frames_uncharge();
	return page;
}

/* Sends one request for at most nr consecutive places, from `place` on, that hold a page and are
 * not resident. Returns their number. */
static u32 read_run(const struct swap_area *a, u32 place, struct page **pages, u32 nr)
{
	u32 n = 0, slot = a->first + place;

	nr = MIN(MIN(nr, a->nr - place), BIO_MAX_PIECES);
	while (n < nr && swap_slot_valid(slot + n) && !swap_cached(slot + n)) {
		pages[n] = add_frame_gently(slot + n);
		if (!pages[n])
			break;
		page_get(pages[n++]);
	}
	if (n)
		swap_read_run(pages, n);
	return n;
}

/* Takes a page that was read ahead from the policy, like the pages being read now: while we hold a reference,
 * reclaim could not free it, and tasks that wait for memory, this one included, would try forever. */
static struct page *hold_cached(u32 slot)
{
	struct page *page = swap_cache_get(slot);

	if (page_test(page, PG_owned) && !page->mapcount)
		policy_call_remove(page, VM_OUT_MOVED);
	return page;
}

u32 swap_read_area(const struct swap_area *a, u32 *place, struct page **pages, u32 nr)
{
	u32 n = 0, run;

	while (*place < a->nr && n < nr) {
		u32 slot = a->first + *place;

		if (swap_slot_valid(slot) && swap_cached(slot)) {
			pages[n++] = hold_cached(slot);
			++*place;
		} else if (swap_slot_valid(slot)) {
			run = read_run(a, *place, pages + n, nr - n);
			if (!run && swap_slot_valid(slot) && !swap_cached(slot))
				break;
			n += run;
			*place += run;
		} else {
			++*place;
		}
	}
	return n;
}
