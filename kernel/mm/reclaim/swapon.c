/*
 * Switching a swap area on.
 *
 * The area of swap= is used as it is, whatever lies there: its disk is found before memory is set up, so
 * that its tables come from memory that is never given back. Any other must have been prepared by mkswap,
 * because what lies there is lost. mkswap writes into the first page (Linux's version 1, of 1999):
 *
 *	 1024  version: 1        1032  how many bad pages
 *	 1028  the last page     1536  which these are
 *	 4086  "SWAPSPACE2"
 *
 * The tables of such an area come from vmalloc. Those made at boot serve again, once the first area has
 * been switched off, for the next one that is not larger.
 */
#include "errno.h"
#include "lib/string.h"
#include "mm/bootmem.h"
#include "mm/vmalloc.h"
#include "mm/zone.h"
#include "swap_internal.h"

#define MAX_BAD_PAGES 637u
#define SIGNATURE "SWAPSPACE2"

struct swap_header {
	u8 boot_sectors[1024];
	u32 version, last_page, nr_bad;
	u8 uuid[16], label[16];
	u32 padding[117];
	u32 bad[MAX_BAD_PAGES];
	u8 rest[2];
	char signature[10];
};

STATIC_ASSERT(offsetof(struct swap_header, bad) == 1536);
STATIC_ASSERT(sizeof(struct swap_header) == PAGE_SIZE);

struct block_device *swap_bdev;

static void *boot_tables;
static u32 boot_nr; /* slots that they have room for */
static bool boot_tables_used;
static int lowest_prio = -1; /* given to one that asked for none; the next gets a lower one */

void swap_boot_alloc(u32 nr_slots)
{
	boot_nr = MIN(nr_slots, MAX_AREA_SLOTS);
	boot_tables = boot_alloc(swap_tables_size(boot_nr), 4);
}

static void *take_tables(u32 nr)
{
	if (boot_tables_used || nr > boot_nr)
		return vzalloc(swap_tables_size(nr), "swap tables");
	boot_tables_used = true;
	return memset(boot_tables, 0, swap_tables_size(nr));
}

static void give_tables(void *tables)
{
	if (tables == boot_tables)
		boot_tables_used = false;
	else
		vfree(tables);
}

/* Not open yet. -ENOMEM: no memory for tables; -EPERM: no room for another area. */
static int make_area(struct block_device *bdev, u32 nr, struct swap_area **made)
{
	void *tables = take_tables(nr);
	struct swap_area *a;

	if (!tables)
		return -ENOMEM;
	a = swap_area_add(nr, swap_tables_at(tables, nr));
	if (!a) {
		give_tables(tables);
		return -EPERM;
	}
	a->bdev = bdev;
	*made = a;
	return 0;
}

void swap_on(struct block_device *bdev)
{
	struct swap_area *a;

	swap_bdev = bdev;
	if (!bdev)
		return;
	make_area(bdev, MIN(boot_nr, bdev->nr_sectors / SECTORS_PER_SLOT), &a);
	swap_area_open(a, --lowest_prio);
}

static int check_header(const struct swap_header *h, const struct block_device *bdev)
{
	if (memcmp(h->signature, SIGNATURE, sizeof(h->signature)) || h->version != 1)
		return -EINVAL;
	if (!h->last_page || h->last_page >= bdev->nr_sectors / SECTORS_PER_SLOT ||
	    h->last_page >= MAX_AREA_SLOTS)
		return -EINVAL;
	if (h->nr_bad > MAX_BAD_PAGES)
		return -EINVAL;
	for (u32 i = 0; i < h->nr_bad; i++)
		if (!h->bad[i] || h->bad[i] > h->last_page)
			return -EINVAL;
	return 0;
}

static int open_area(struct block_device *bdev, const struct swap_header *h, u32 flags)
{
	struct swap_area *a;
	int err = check_header(h, bdev);

	if (!err)
		err = make_area(bdev, h->last_page + 1, &a);
	if (err)
		return err;
	for (u32 i = 0; i < h->nr_bad; i++)
		swap_area_forbid(a, h->bad[i]);
	swap_area_open(a, flags & SWAP_FLAG_PREFER ? (int)(flags & SWAP_FLAG_PRIO_MASK)
						   : --lowest_prio);
	return 0;
}

int swap_area_on(struct block_device *bdev, u32 flags)
{
	struct page *page;
	int err;

	if (flags & ~(SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK))
		return -EINVAL;
	err = bdev_claim(bdev, "swap");
	if (err)
		return err;
	page = alloc_page(GFP_KERNEL | GFP_NORETRY);
	err = page ? block_rw(bdev, 0, page, 0, PAGE_SIZE, false) : -ENOMEM;
	if (!err)
		err = open_area(bdev, page_address(page), flags);
	if (page)
		free_pages(page, 0);
	if (err)
		bdev_release(bdev);
	return err;
}

void swap_area_end(struct swap_area *a)
{
	struct block_device *bdev = a->bdev;
	void *tables = a->t.cache;

	swap_area_drop(a);
	give_tables(tables);
	bdev_release(bdev);
}
