/*
 * cut=N: the power is cut at the Nth write of sda, the modelled file disk.
 *
 * A disk guarantees little. A request in progress when the power is cut may be written in part;
 * only a sector is written entirely or not at all. And a disk reports a write as complete when its
 * cache holds the data; they are on the medium only after a flush. Runs are exact, so every N can
 * be tried, with one boot each, and the result be checked: by e2fsck, and against the guarantees
 * given to programs.
 *
 *	disk=sim:hdd,...,cache=1M   the disk has a cache of this size, and accepts flushes
 *	cut=7                       the power is cut at request 7
 *	cut_seed=3                  another selection of surviving sectors
 *
 * The requests that change the medium are counted, from 1 on: writes, of files, metadata and swap
 * alike, and flushes, which exist only with a cache. Reads change nothing. At request N, each of
 * its sectors is drawn at random to survive or not, and so is each write of a sector in the cache;
 * sometimes most survive, sometimes none. If request N is a flush, it does not take place.
 *
 * The disk's memory always holds the data that a read must return. For the cache, the old contents
 * of the medium are saved for each sector written since the last flush: at the cut some of them are
 * restored. A full cache writes its oldest sector. The cache does not change the time of a request,
 * and a flush takes the disk's latency. After a regular end or a panic the disk keeps its power:
 * nothing is lost.
 *
 * Without cut= and cache= none of this code is called.
 */
#include "drivers/powercut.h"

#include "arch/machine.h"
#include "arch/mmu.h"
#include "drivers/block.h"
#include "lib/mix64.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/page.h"
#include "observe/fail.h"

#define SECTORS_PER_PAGE (PAGE_SIZE / SECTOR_SIZE)
#define OLD_PER_PAGE 7u
#define QUARTERS 4u

struct old_page { /* the medium's old contents of sectors written since */
	char data[OLD_PER_PAGE][SECTOR_SIZE];
	u32 sector[OLD_PER_PAGE];
};
STATIC_ASSERT(sizeof(struct old_page) <= PAGE_SIZE);

static u32 cut_at; /* 0: never */
static u32 cut_seed = 1;
static u64 drawn;
static u32 nr_requests; /* irq */

static u32 store_pfn, cache_pfn;
static u32 size;          /* of the cache, in sectors */
static u32 oldest, nr_old; /* irq: a ring of `size` */

PARAM_U32("cut", cut_at, 1, UINT32_MAX, NULL,
	  "power fails at this write or flush of the modelled disk sda; 0: never", AT_BOOT);
PARAM_U32("cut_seed", cut_seed, 0, UINT32_MAX, NULL,
	  "draws which sectors are on the disk after cut=", AT_BOOT);

u32 powercut_at(void)
{
	return cut_at;
}

u64 powercut_room(u64 cache_bytes)
{
	u64 sectors = cache_bytes >> SECTOR_SHIFT;

	return ((u32)sectors + OLD_PER_PAGE - 1) / OLD_PER_PAGE * (u64)PAGE_SIZE;
}

void powercut_open(u32 store, u32 cache, u64 cache_bytes)
{
	store_pfn = store;
	cache_pfn = cache;
	size = cache_bytes >> SECTOR_SHIFT;
}

/* The cache. */

static char *map_sector(u32 sector)
{
	return (char *)kmap_pfn(store_pfn + sector / SECTORS_PER_PAGE) +
	       sector % SECTORS_PER_PAGE * SECTOR_SIZE;
}

static void unmap_sector(char *at)
{
	kunmap((void *)ALIGN_DOWN((uintptr_t)at, PAGE_SIZE));
}

/* Saves the medium's sector in entry i of the ring, or restores it (back). */
static void move_old(u32 i, u32 sector, bool back)
{
	struct old_page *old = kmap_pfn(cache_pfn + i / OLD_PER_PAGE);
	char *at = map_sector(back ? old->sector[i % OLD_PER_PAGE] : sector);

	if (back) {
		memcpy(at, old->data[i % OLD_PER_PAGE], SECTOR_SIZE);
	} else {
		memcpy(old->data[i % OLD_PER_PAGE], at, SECTOR_SIZE);
		old->sector[i % OLD_PER_PAGE] = sector;
	}
	unmap_sector(at);
	kunmap(old);
}

static void keep_old(u32 sector)
{
	if (nr_old == size) {
		oldest = (oldest + 1) % size;
		nr_old--;
	}
	move_old((oldest + nr_old++) % size, sector, false);
}

/* The cut. */

static u32 draw(u32 below)
{
	drawn += MIX64_STEP;
	return (mix64(drawn + ((u64)cut_seed << 32 | cut_at)) >> 32) % below;
}

/* Restores from the newest write on, so that a sector written twice has one of its three contents.
 * Returns the number of writes lost. */
static u32 lose_cached(void)
{
	u32 quarters = draw(QUARTERS + 1), lost = 0;

	for (u32 n = nr_old; n-- > 0;) {
		if (draw(QUARTERS) < quarters)
			continue;
		move_old((oldest + n) % size, 0, true);
		lost++;
	}
	return lost;
}

static void write_sector(u32 sector, const struct bio_piece *piece, u32 offset)
{
	char *frame = kmap(piece->page), *at = map_sector(sector);

	memcpy(at, frame + piece->offset + offset, SECTOR_SIZE);
	unmap_sector(at);
	kunmap(frame);
}

/* Writes some of the request's sectors. Returns their number. */
static u32 write_part(const struct request *rq)
{
	u32 sector = rq->sector, quarters = draw(QUARTERS + 1), written = 0;
	const struct bio *bio;

	list_for_each_entry(bio, &rq->bios, node)
		for (u32 i = 0; i < bio->nr; i++)
			for (u32 off = 0; off < bio->piece[i].bytes; off += SECTOR_SIZE, sector++)
				if (draw(QUARTERS) < quarters) {
					write_sector(sector, &bio->piece[i], off);
					written++;
				}
	return written;
}

static void __noreturn power_off_now(const struct request *rq)
{
	u32 lost = lose_cached(), written = write_part(rq);

	printk("\ncut: power off at request %u (", cut_at);
	if (rq->nr_sectors)
		printk("%u of %u sectors written from %u on", written, rq->nr_sectors, rq->sector);
	else
		printk("a flush");
	if (size)
		printk(", %u of %u lost from the cache", lost, nr_old);
	printk("; cut_seed=%u)\n", cut_seed);
	fail_report();
	machine_exit(EXIT_CUT);
}

void powercut_before(const struct request *rq)
{
	if (++nr_requests == cut_at)
		power_off_now(rq);
	if (!rq->nr_sectors)
		nr_old = 0;
	for (u32 i = 0; size && i < rq->nr_sectors; i++)
		keep_old(rq->sector + i);
}

/* At power-off: prints a message if the power was to be cut and was not. */
static void powercut_report(void)
{
	if (cut_at)
		printk("cut: request %u never came: %u there were\n", cut_at, nr_requests);
}

AT_STAGE(report, 50, powercut_report);
