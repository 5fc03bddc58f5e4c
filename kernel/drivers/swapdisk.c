/*
 * The disk of the swap area: a modelled disk of its own (drivers/simdisk.c), unless swap= chooses
 * another one (drivers/swap_choice.c).
 *
 * The disk's size decides the size of the swap area's tables, and these are allocated from memory
 * before the allocators work. So the disk is found that early, and announced later.
 */
#include "drivers/swapdisk.h"

#include "arch/machine.h"
#include "drivers/disk.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/bootmem.h"
#include "mm/page.h"

#define SECTORS_PER_PAGE (PAGE_SIZE / SECTOR_SIZE)
#define MAX_PAGES (1u << 24) /* the largest number that a page-table entry can hold */

char swapdisk_spec[SIMDISK_SPEC_MAX] = "sim:hdd";
struct block_device *(*swapdisk_find_other)(void);
bool swapdisk_is_partition;
const char *(*swapdisk_choose)(const char *text);
const char *swapdisk_choices = "sim:hdd";

static struct block_device *disk;

static const char *parse_swap(const char *text)
{
	if (swapdisk_choose)
		return swapdisk_choose(text);
	return strcmp(text, swapdisk_spec) ? "there is no other disk" : NULL;
}

static void list_swap(char *buf, size_t size)
{
	strlcpy(buf, swapdisk_choices, size);
}

static void show_swap(char *buf, size_t size)
{
	strlcpy(buf, swapdisk_spec, size);
}

PARAM_CALL("swap", parse_swap, list_swap, show_swap, "the swap area's disk", AT_BOOT);

bool swapdisk_in_memory(void)
{
	return !swapdisk_find_other;
}

static struct block_device *find_in_memory(void)
{
	struct block_device *b;
	u64 start, end;

	bootmem_store_range(&start, &end);
	b = simdisk_open(SIMDISK_SWAP, start, end);
	if (b)
		return b;
	printk("command line: swap=%s: %llu KiB of memory above mem= for its data; start QEMU "
	       "with a larger -m, or use a smaller size= or mem=, or swap=none\n",
	       swapdisk_spec, (end - start) >> 10);
	machine_exit(EXIT_REFUSED);
}

u32 swapdisk_find(void)
{
	disk = swapdisk_find_other ? swapdisk_find_other() : find_in_memory();
	return disk ? MIN(disk->nr_sectors / SECTORS_PER_PAGE, MAX_PAGES) : 0;
}

struct block_device *swapdisk_announce(struct block_device *b)
{
	u32 pages = b->nr_sectors / SECTORS_PER_PAGE;

	bdev_claim(b, "swap");
	printk("swap: %s, %u KiB; %s\n", swapdisk_spec, MIN(pages, MAX_PAGES) * 4, b->disk->model);
	return b;
}

struct block_device *swapdisk_open(void)
{
	return disk && !swapdisk_is_partition ? swapdisk_announce(disk) : NULL;
}
