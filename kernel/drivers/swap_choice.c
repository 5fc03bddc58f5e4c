/*
 * The choice of the swap disk: swap=, in a kernel with more disks than the modelled one.
 *
 *	none                 no swap area
 *	sim:...              a modelled disk of its own, drivers/simdisk.c
 *	hda, vda, sda2, ...  any disk or partition, drivers/disks.c
 *
 * A partition is found later than a disk, when its disk can be read: its tables are sized for the
 * whole disk.
 */
#include "drivers/swapdisk.h"

#include "arch/machine.h"
#include "drivers/disk.h"
#include "drivers/disks.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/page.h"

#define SECTORS_PER_PAGE (PAGE_SIZE / SECTOR_SIZE)
#define DISK_NAME 3 /* bytes, as in hda */

/* Prints the disks that exist and ends the machine. */
static void __noreturn refuse(const char *name)
{
	struct block_device *b = NULL;

	printk("command line: swap=%s: there is no disk %s", swapdisk_spec, name);
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
		       swapdisk_spec, b->nr_sectors / 2, b->read_only ? ", read-only" : "");
		machine_exit(EXIT_REFUSED);
	}
	return b;
}

/* The disk, also if swap= names a partition of it. */
static struct block_device *find_other(void)
{
	char whole[DISK_NAME + 1];

	if (!strcmp(swapdisk_spec, "none"))
		return NULL;
	strlcpy(whole, swapdisk_spec, sizeof(whole));
	return find(whole);
}

struct block_device *swapdisk_open_partition(void)
{
	return swapdisk_is_partition ? swapdisk_announce(find(swapdisk_spec)) : NULL;
}

static const char *choose(const char *text)
{
	bool modelled = !strncmp(text, SIMDISK_PREFIX, strlen(SIMDISK_PREFIX));
	const char *err = NULL;

	if (strlen(text) >= sizeof(swapdisk_spec))
		return "too long";
	if (modelled)
		err = simdisk_parse(SIMDISK_SWAP, text);
	else if (strcmp(text, "none") && !disks_want(text))
		err = "unknown kind of swap";
	if (err)
		return err;
	strlcpy(swapdisk_spec, text, sizeof(swapdisk_spec));
	swapdisk_find_other = modelled ? NULL : find_other;
	swapdisk_is_partition = !modelled && strlen(text) > DISK_NAME && strcmp(text, "none");
	return NULL;
}

static void choice_init(void)
{
	swapdisk_choose = choose;
	swapdisk_choices =
		"none|hda|sda2|...|sim:hdd|sim:ssd|sim:ram, then ,size=64M ,seek= ,rotation= "
		",transfer= ,latency= (us)";
}

AT_STAGE(first, 60, choice_init);
