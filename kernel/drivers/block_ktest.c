/*
 * Disk tests, if the machine has an unclaimed disk: they read what the host has written, and
 * afterwards the host reads what they wrote (tests/kernel/test_block.py, which knows the pattern).
 */
#include "arch/irq.h"
#include "drivers/block.h"
#include "errno.h"
#include "lib/ktap.h"
#include "lib/string.h"
#include "mm/page.h"
#include "mm/frames.h"
#include "mm/zone.h"
#include "sched/wait.h"

#define WORDS (SECTOR_SIZE / 4)
#define SECTORS_PER_PAGE (PAGE_SIZE / SECTOR_SIZE)
#define NR_PAGES 64u

static struct page *pages[NR_PAGES];
static struct page *spare;

static u32 pattern(u32 sector, u32 word)
{
	return sector * 2654435761u + word;
}

static void fill(char *at, u32 sector, u32 mask)
{
	for (u32 i = 0; i < WORDS; i++)
		((u32 *)at)[i] = pattern(sector, i) ^ mask;
}

static bool holds(const char *at, u32 sector, u32 mask)
{
	for (u32 i = 0; i < WORDS; i++)
		if (((const u32 *)at)[i] != (pattern(sector, i) ^ mask))
			return false;
	return true;
}

/* Returns a disk with the pattern, or NULL, with the test skipped, if there is none. */
static struct block_device *find_disk(void)
{
	struct block_device *b = NULL;

	while ((b = bdev_next(b)) && (b->holder || b->nr_sectors < 4 * NR_PAGES * SECTORS_PER_PAGE))
		;
	if (b && !spare)
		spare = alloc_page(GFP_KERNEL);
	if (!b || block_rw(b, 1, spare, 0, SECTOR_SIZE, false) ||
	    !holds(page_address(spare), 1, 0)) {
		ktap_skip("no disk for it");
		return NULL;
	}
	return b;
}

KTEST(disk, parts_of_pages_are_read)
{
	struct block_device *b = find_disk();
	u32 rnd = ktap_seed_noted();

	for (u32 n = 0; b && n < 40; n++) {
		u32 offset = ktap_random(&rnd) % SECTORS_PER_PAGE;
		u32 nr = 1 + ktap_random(&rnd) % (SECTORS_PER_PAGE - offset);
		u32 sector = ktap_random(&rnd) % (b->nr_sectors / 2 - nr);
		char *at = (char *)page_address(spare) + offset * SECTOR_SIZE;

		memset(page_address(spare), 0xAA, PAGE_SIZE);
		EXPECT_EQ(block_rw(b, sector, spare, offset * SECTOR_SIZE, nr * SECTOR_SIZE, false),
			  0);
		for (u32 i = 0; i < nr; i++)
			EXPECT(holds(at + i * SECTOR_SIZE, sector + i, 0));
		if (offset)
			EXPECT_EQ(*((u8 *)at - 1), 0xAA);
		if (offset + nr < SECTORS_PER_PAGE)
			EXPECT_EQ((u8)at[nr * SECTOR_SIZE], 0xAA);
	}
}

KTEST(disk, beyond_its_end_is_an_error)
{
	struct block_device *b = find_disk();

	if (!b)
		return;
	EXPECT_EQ(block_rw(b, b->nr_sectors - 1, spare, 0, SECTOR_SIZE, false), 0);
	EXPECT_EQ(block_rw(b, b->nr_sectors - 1, spare, 0, 2 * SECTOR_SIZE, false), -EIO);
	EXPECT_EQ(block_rw(b, b->nr_sectors, spare, 0, SECTOR_SIZE, true), -EIO);
}

static struct wait_queue all_over = { LIST_HEAD_INIT(all_over.waiters) };
static volatile u32 nr_left, nr_failed; /* irq */

static void one_over(struct bio *bio)
{
	nr_failed += bio->error != 0;
	nr_left--;
	bio_put(bio);
	wake_up(&all_over);
}

/* Moves all pages at once, each by one or more bios, in a scrambled order. */
static void move_all(struct block_device *b, u32 sector, bool write)
{
	nr_failed = 0;
	nr_left = NR_PAGES;
	for (u32 n = 0; n < NR_PAGES; n++) {
		u32 i = n * 37 % NR_PAGES;
		struct bio *bio =
			bio_get(b, sector + i * SECTORS_PER_PAGE, write, BIO_DATA, one_over);

		bio_add(bio, pages[i], 0, PAGE_SIZE / 2);
		bio_add(bio, pages[i], PAGE_SIZE / 2, PAGE_SIZE / 2);
		block_submit(bio);
	}
	wait_event(&all_over, !nr_left);
	EXPECT_EQ(nr_failed, 0);
}

static void fill_all(u32 sector, u32 mask)
{
	for (u32 i = 0; i < NR_PAGES * SECTORS_PER_PAGE; i++) {
		char *page = kmap(pages[i / SECTORS_PER_PAGE]);

		fill(page + i % SECTORS_PER_PAGE * SECTOR_SIZE, sector + i, mask);
		kunmap(page);
	}
}

static void expect_all(u32 sector, u32 mask)
{
	for (u32 i = 0; i < NR_PAGES * SECTORS_PER_PAGE; i++) {
		char *page = kmap(pages[i / SECTORS_PER_PAGE]);

		EXPECT(holds(page + i % SECTORS_PER_PAGE * SECTOR_SIZE, sector + i, mask));
		kunmap(page);
	}
}

KTEST(disk, many_at_once_are_written_and_read)
{
	struct block_device *b = find_disk();
	u32 at = b ? b->nr_sectors - NR_PAGES * SECTORS_PER_PAGE : 0;

	if (!b)
		return;
	for (u32 i = 0; i < NR_PAGES; i++)
		pages[i] = alloc_page(GFP_USER);
	fill_all(at, ~0u);
	move_all(b, at, true);
	EXPECT_EQ(block_flush(b), 0);
	fill_all(0, 1);
	move_all(b, at, false);
	expect_all(at, ~0u);
	for (u32 i = 0; i < NR_PAGES; i++)
		page_put(pages[i]);
	ktap_note("%s: %llu reads, %llu writes, %llu bios merged", b->name, bdev_requests(b, false),
		  bdev_requests(b, true),
		  b->count.merged[BLOCK_READ] + b->count.merged[BLOCK_WRITE]);
}
