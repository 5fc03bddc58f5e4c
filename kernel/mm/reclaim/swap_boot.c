/*
 * The tables of swap areas, and the area that is used from the start.
 *
 * The area of swap= is used whatever its disk contains. That disk is found before memory is set up, so
 * the area's tables come from memory that is never freed. The tables of any other area come from
 * vmalloc. The tables made at boot are reused: once the first area has been switched off, they serve
 * the next area that is not larger.
 */
#include "errno.h"
#include "lib/string.h"
#include "mm/bootmem.h"
#include "mm/vmalloc.h"
#include "swap_internal.h"

struct block_device *swap_bdev;

static void *boot_tables;
static u32 boot_nr; /* number of slots that fit into boot_tables */
static bool boot_tables_used;
static int lowest_prio = -1; /* for areas without a requested priority; each gets a lower one */

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

void swap_give_tables(void *tables)
{
	if (tables == boot_tables)
		boot_tables_used = false;
	else
		vfree(tables);
}

int swap_area_make(struct block_device *bdev, u32 nr, struct swap_area **made)
{
	void *tables = take_tables(nr);
	struct swap_area *a;

	if (!tables)
		return -ENOMEM;
	a = swap_area_add(nr, swap_tables_at(tables, nr));
	if (!a) {
		swap_give_tables(tables);
		return -EPERM;
	}
	a->bdev = bdev;
	*made = a;
	return 0;
}

void swap_area_open_as(struct swap_area *a, u32 flags)
{
	bool preferred = flags & SWAP_FLAG_PREFER;

	swap_area_open(a, preferred ? (int)(flags & SWAP_FLAG_PRIO_MASK) : --lowest_prio);
}

void swap_on(struct block_device *bdev)
{
	struct swap_area *a;

	swap_bdev = bdev;
	if (!bdev)
		return;
	swap_area_make(bdev, MIN(boot_nr, bdev->nr_sectors / SECTORS_PER_SLOT), &a);
	swap_area_open(a, --lowest_prio);
}
