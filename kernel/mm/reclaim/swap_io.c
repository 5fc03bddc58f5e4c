/*
 * Moving pages between frames and the swap area.
 *
 * Reading. One request reads the wanted slot together with those neighbours, in the aligned group
 * of 2^page_cluster, that hold a page and are not resident: the disk head is already there.
 * Neighbours are read only while memory is plentiful, and only from disks that take time. All pages
 * of the request are locked until it ends. The policy owns the neighbours from the start, as
 * prefetched pages, but they are not eligible while locked.
 *
 * Writing. Pages are collected and sorted by slot; pages with consecutive slots are written by one
 * request. The policy chooses in the order of use, which differs from the order of slots as soon as
 * two zones, or two processes, take turns. A task that must wait for a bio leaves its pages among the
 * collected ones meanwhile, and takes the next page only when there is room for it. So no later slots
 * of other tasks are written first, and the disk's head need not move back.
 */
#include "drivers/block.h"
#include "lib/param.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/frames.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "sched/current.h"
#include "swap_internal.h"

/* The disk transfers this number of pages in half the time in which it moves its arm. */
#define READ_THROUGH 64

u32 page_cluster = 3;
PARAM_U32("vm.page_cluster", page_cluster, 0, MAX_CLUSTER, "log2 pages", "read-ahead from swap");

static struct page *plug[BIO_MAX_PIECES]; /* pages to be written, in the order of their slots */
static u32 nr_plugged;

static struct bio *get_bio(u32 slot, bool write, void (*end)(struct bio *bio))
{
	return bio_get(swap_area_of(slot)->bdev, swap_sector(slot), write, BIO_SWAP, end);
}

/* For an area in a file: sets the sector at which the request's slots really lie on the device. */
static out_of_line void set_true_sector(struct bio *bio)
{
	u32 slot = bio->piece[0].page->slot;
	const struct swap_area *a = swap_area_of(slot);

	if (a->file)
		bio->sector = swap_file_sector(a->file, slot - a->first);
}

static inline void send(struct bio *bio)
{
	if (unlikely(swap_nr_files))
		set_true_sector(bio);
	block_submit(bio);
}

static void read_end(struct bio *bio)
{
	for (u32 i = 0; i < bio->nr; i++) {
		page_set(bio->piece[i].page, bio->error ? PG_error : PG_uptodate);
		page_unlock(bio->piece[i].page);
	}
	if (bio->error)
		stat_count(swap_read_error);
	bio_put(bio);
}

static void write_end(struct bio *bio)
{
	if (bio->error)
		stat_count(swap_write_error);
	for (u32 i = 0; i < bio->nr; i++) {
		struct page *page = bio->piece[i].page;

		if (bio->error)
			page_set(page, PG_error);
		page_end_writeback(page);
		reclaim_write_done(page);
	}
	bio_put(bio);
}

/* Sends the first of the collected pages, as many as have consecutive slots. Returns their number. */
static u32 write_run(struct bio *bio)
{
	u32 slot = plug[0]->slot, nr = 0;

	bio->bdev = swap_area_of(slot)->bdev;
	bio->sector = swap_sector(slot);
	for (; nr < nr_plugged && plug[nr]->slot == slot + nr; nr++)
		bio_add(bio, plug[nr], 0, PAGE_SIZE);
	nr_plugged -= nr;
	for (u32 i = 0; i < nr_plugged; i++)
		plug[i] = plug[i + nr];
	stat_add(pswpout, nr);
	send(bio);
	return nr;
}

/* While this task waits for a bio, other tasks collect pages, and send some. So each task sends as many
 * pages as there were when it came: the task that came last leaves none. */
void swap_write_flush(void)
{
	u32 nr = nr_plugged;

	for (u32 sent = 0; sent < nr && nr_plugged;) {
		struct bio *bio = get_bio(plug[0]->slot, true, write_end);

		if (nr_plugged)
			sent += write_run(bio);
		else
			bio_put(bio);
	}
}

void swap_write_room(void)
{
	while (nr_plugged == BIO_MAX_PIECES)
		swap_write_flush();
}

void swap_write(struct page *page)
{
	u32 i;

	ASSERT(nr_plugged < BIO_MAX_PIECES);
	page_clear(page, PG_error);
	page_set(page, PG_writeback);
	for (i = nr_plugged++; i && plug[i - 1]->slot > page->slot; i--)
		plug[i] = plug[i - 1];
	plug[i] = page;
}

struct page *swap_add_frame(u32 slot, gfp_t gfp)
{
	struct page *page = alloc_page(gfp);

	if (!page)
		return NULL;
	if (!swap_slot_valid(slot) || (gfp & GFP_WAIT && swap_cached(slot))) {
		page_put(page);
		return NULL;
	}
	page->flags |= 1u << PG_anon | 1u << PG_locked;
	page->owner = NULL;
	page->family = NULL;
	page->used_vt = 0;
	swap_cache_add(page, slot);
	page_put(page);
	return page;
}

/* Adds a neighbour to the request, but only if that takes no frame from a process. */
static struct page *add_neighbour(u32 slot)
{
	struct page_id id = { SWAP_STORE, slot };
	struct page *page;

	if (!swap_slot_valid(slot) || swap_cached(slot) || !frames_try_charge())
		return NULL;
	page = swap_add_frame(slot, GFP_HIGH);
	if (!page) {
		frames_uncharge();
		return NULL;
	}
	stat_count(swap_ra);
	page_set(page, PG_readahead);
	policy_call_insert(page, NULL, VM_IN_PREFETCH, id);
	return page;
}

/* Fills a request with the target and its neighbours in slot order, and sends it. */
static void read_cluster(struct bio *bio, struct page *target, u32 cluster)
{
	u32 size = 1u << cluster, slot = target->slot;
	u32 first = ALIGN_DOWN(slot, size), lo = slot, hi = slot + 1;
	struct page *before[1u << MAX_CLUSTER], *page;

	while (lo > first && (page = add_neighbour(lo - 1)))
		before[slot - lo--] = page;
	bio->sector = swap_sector(lo);
	for (u32 i = slot - lo; i > 0; i--)
		bio_add(bio, before[i - 1], 0, PAGE_SIZE);
	bio_add(bio, target, 0, PAGE_SIZE);
	while (hi < first + size && (page = add_neighbour(hi))) {
		bio_add(bio, page, 0, PAGE_SIZE);
		hi++;
	}
	stat_add(pswpin, bio->nr);
	send(bio);
}

/* log2 of the number of pages to read at once. */
static u32 read_ahead(const struct bio *bio, bool alone)
{
	return alone || bio->bdev->synchronous ? 0 : page_cluster;
}

struct page *swap_in_slot(u32 slot, struct mm_struct *mm, bool alone, bool *major)
{
	struct page *page = swap_cache_get(slot);
	struct bio *bio;

	if (page)
		return page;
	if (mm)
		guard_call_fault(mm);
	frames_charge();
	page = swap_add_frame(slot, GFP_USER);
	if (!page) { /* no memory; or another task read it while we slept, and it is in the cache */
		frames_uncharge();
		return swap_slot_valid(slot) ? swap_cache_get(slot) : NULL;
	}
	page_get(page);
	*major = true;
	bio = get_bio(slot, false, read_end);
	read_cluster(bio, page, read_ahead(bio, alone));
	return page;
}

bool swap_prefetch(u32 slot, u32 cluster)
{
	struct page *page = add_neighbour(slot);
	struct bio *bio;

	if (!page)
		return false;
	bio = get_bio(slot, false, read_end);
	read_cluster(bio, page, bio->bdev->synchronous ? 0 : cluster);
	return true;
}

static struct page *unused; /* receives what lies between the slots that are wanted */

static void sorted_end(struct bio *bio)
{
	u32 nr = 0;

	for (u32 i = 0; i < bio->nr; i++)
		if (bio->piece[i].page != unused)
			bio->piece[nr++] = bio->piece[i];
	bio->nr = nr;
	read_end(bio);
}

/* The largest gap between wanted slots to read through. Takes the frame for it at the first call. */
static u32 longest_gap(const struct bio *bio, const struct swap_area *area)
{
	if (!unused)
		unused = alloc_page(GFP_HIGH);
	return unused && !area->file && !bio->bdev->synchronous ? READ_THROUGH : 0;
}

/* Adds a page to the request, or sends a full one and begins another. */
static struct bio *append(struct bio *bio, struct page *page, u32 slot)
{
	if (bio->nr == BIO_MAX_PIECES) {
		send(bio);
		bio = get_bio(slot, false, sorted_end);
	}
	bio_add(bio, page, 0, PAGE_SIZE);
	return bio;
}

void swap_read_sorted(const u32 *slots, u32 nr)
{
	const struct swap_area *area = NULL;
	struct bio *bio = NULL;
	u32 at = 0;

	for (u32 i = 0; i < nr; i++) {
		struct page *page;

		if (!swap_slot_valid(slots[i]) || swap_cached(slots[i]))
			continue;
		page = add_neighbour(slots[i]);
		if (!page)
			break;
		stat_count(pswpin);
		if (bio &&
		    (swap_area_of(slots[i]) != area || slots[i] - at > longest_gap(bio, area))) {
			send(bio);
			bio = NULL;
		}
		if (!bio) {
			area = swap_area_of(slots[i]);
			at = slots[i];
			bio = get_bio(at, false, sorted_end);
		}
		for (; at < slots[i]; at++)
			bio = append(bio, unused, at);
		bio = append(bio, page, at++);
	}
	if (bio)
		send(bio);
}

void swap_read_run(struct page **pages, u32 nr)
{
	struct bio *bio = get_bio(pages[0]->slot, false, read_end);

	for (u32 i = 0; i < nr; i++)
		bio_add(bio, pages[i], 0, PAGE_SIZE);
	stat_add(pswpin, nr);
	send(bio);
}
