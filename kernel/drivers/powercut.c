/*
 * cut=N: the power goes at the Nth write of sda, the modelled disk for files.
 *
 * A disk promises little. A request that was under way when the power went may be there in part; only a
 * sector is written whole or not at all. And a disk says that a write is over when its cache
 * holds the data; on the medium it is after a flush. Runs are exact, so every N can be
 * tried, one boot each, and what is left be judged: e2fsck, and what a program was promised.
 *
 *	disk=sim:hdd,...,cache=1M   the disk has a cache of this size, and takes flushes
 *	cut=7                       the power goes at request 7
 *	cut_seed=3                  other sectors are there
 *
 * Counted from 1 on are the requests that change the medium: writes, of files, metadata and swap alike, and
 * flushes, which there are only with a cache. A read changes nothing. At request N each of its sectors
 * is drawn to be there or not, and each write of a sector that the cache holds; sometimes most
 * are, sometimes none. A flush that comes as the Nth does not take place.
 *
 * The disk's memory always holds what a read must find. For the cache is kept, of each sector that was
 * written since the last flush, what the medium had before: at the cut some of that is put back. A
 * cache that is full writes its oldest sector. It does not change how long a request takes, and a flush
 * takes the disk's latency. An orderly end, and a panic, leave the disk its power: nothing is lost.
 *
 * Without cut= and cache= nothing of this is called.
 */
#include "drivers/powercut.h"

#include "arch/machine.h"
#include "arch/mmu.h"
#include "drivers/block.h"
#include "lib/mix64.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/page.h"
#include "observe/fail.h"

#define SECTORS_PER_PAGE (PAGE_SIZE / SECTOR_SIZE)
#define OLD_PER_PAGE 7u
#define QUARTERS 4u

struct old_page { /* what sectors of the medium hold that were written since */
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
	  "the power goes at this write or flush of the modelled disk sda; 0: it does not",
	  AT_BOOT);
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

/* Between the medium and entry i of the ring: what it had is kept, or put back. */
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

/* The youngest write first, so that a sector that was written twice has one of its three contents.
 * How many writes are lost. */
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

/* How many of its sectors are written. */
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

void powercut_report(void)
{
	if (cut_at)
		printk("cut: request %u never came: %u there were\n", cut_at, nr_requests);
}
