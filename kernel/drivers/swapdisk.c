/*
 * The disk of the swap area: the parameter swap=.
 *
 *	none                 no swap area
 *	sim:...              a modelled disk of its own, drivers/simdisk.c
 *	hda, vda, sda2, ...  any disk or partition, drivers/disks.c
 *
 * The disk's size decides the size of the swap area's tables, and these are allocated from memory
 * before the allocators work. So the disk is found that early, and announced later. A partition is
 * found even later, when its disk can be read: its tables are sized for the whole disk.
 */
#include "drivers/swapdisk.h"

#include "arch/machine.h"
#include "drivers/disk.h"
#include "drivers/disks.h"
#include "drivers/simdisk.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/bootmem.h"
#include "mm/page.h"

#define SECTORS_PER_PAGE (PAGE_SIZE / SECTOR_SIZE)
#define MAX_PAGES (1u << 24) /* the largest number that a page-table entry can hold */
#define DISK_NAME 3          /* bytes, as in hda */

static char spec[SIMDISK_SPEC_MAX] = "sim:hdd";
static struct block_device *disk;

static const char *parse_swap(const char *text)
{
	const char *err = NULL;

	if (strlen(text) >= sizeof(spec))
		return "too long";
	if (!strncmp(text, SIMDISK_PREFIX, strlen(SIMDISK_PREFIX)))
		err = simdisk_parse(SIMDISK_SWAP, text);
	else if (strcmp(text, "none") && !disks_want(text))
		err = "unknown kind of swap";
	if (!err)
		strlcpy(spec, text, sizeof(spec));
	return err;
}

static void list_swap(char *buf, size_t size)
{
	snprintf(buf, size,
		 "none|hda|sda2|...|sim:hdd|sim:ssd|sim:ram, then ,size=64M ,seek= ,rotation= "
		 ",transfer= ,latency= (us)");
}

static void show_swap(char *buf, size_t size)
{
	snprintf(buf, size, "%s", spec);
}

PARAM_CALL("swap", parse_swap, list_swap, show_swap, "the swap area's disk", AT_BOOT);

bool swapdisk_in_memory(void)
{
	return !strncmp(spec, SIMDISK_PREFIX, strlen(SIMDISK_PREFIX));
}

static void find_in_memory(void)
{
	u64 start, end;

	bootmem_store_range(&start, &end);
	disk = simdisk_open(SIMDISK_SWAP, start, end);
	if (disk)
		return;
	printk("command line: swap=%s: %llu KiB of memory above mem= for its data; start QEMU "
	       "with a larger -m, or use a smaller size= or mem=, or swap=none\n",
	       spec, (end - start) >> 10);
	machine_exit(EXIT_REFUSED);
}

/* Prints the disks that exist and ends the machine. */
static void __noreturn refuse(const char *name)
{
	struct block_device *b = NULL;

	printk("command line: swap=%s: there is no disk %s", spec, name);
	while ((b = bdev_next(b)))
		printk(", but %s, %u KiB", b->name, b->nr_sectors / 2);
	printk("; swap=sim:hdd needs no disk\n");
	machine_exit(EXIT_REFUSED);
}

static struct block_device *find(const char *name)
{
	struct block_device *b = bdev_find(name);

	if (!b)
		refuse(name);
	if (b->nr_sectors < 2 * SECTORS_PER_PAGE || b->read_only) {
		printk("command line: swap=%s: %u KiB%s, but two pages to write to are needed\n",
		       spec, b->nr_sectors / 2, b->read_only ? ", read-only" : "");
		machine_exit(EXIT_REFUSED);
	}
	return b;
}

static bool is_partition(void)
{
	return strlen(spec) > DISK_NAME;
}

u32 swapdisk_find(void)
{
	char whole[DISK_NAME + 1];

	if (!strcmp(spec, "none"))
		return 0;
	if (swapdisk_in_memory())
		find_in_memory();
	else {
		strlcpy(whole, spec, sizeof(whole));
		disk = find(whole);
	}
	return MIN(disk->nr_sectors / SECTORS_PER_PAGE, MAX_PAGES);
}

static struct block_device *announce(void)
{
	u32 pages = disk->nr_sectors / SECTORS_PER_PAGE;

	bdev_claim(disk, "swap");
	printk("swap: %s, %u KiB; %s\n", spec, MIN(pages, MAX_PAGES) * 4, disk->disk->model);
	return disk;
}

struct block_device *swapdisk_open(void)
{
	return disk && (swapdisk_in_memory() || !is_partition()) ? announce() : NULL;
}

struct block_device *swapdisk_open_partition(void)
{
	if (!disk || swapdisk_in_memory() || !is_partition())
		return NULL;
	disk = find(spec);
	return announce();
}
