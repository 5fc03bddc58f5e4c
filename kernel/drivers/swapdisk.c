/*
 * Which disk the swap area is on: the parameter swap=.
 *
 *	none                 no swap area
 *	sim:...              the modelled disk, drivers/simdisk.c
 *	hda, hdb             a disk of the machine, drivers/ata.c
 *
 * The disk's size decides how large the tables of the swap area are, and these are taken from
 * memory before the allocators work. So the disk is found that early, and announced later.
 */
#include "drivers/swapdisk.h"

#include "arch/machine.h"
#include "drivers/ata.h"
#include "drivers/block.h"
#include "drivers/simdisk.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"

static char spec[SWAP_SPEC_MAX] = "sim:hdd";
static struct block_device *disk;

static bool is_ata(const char *text)
{
	return !strcmp(text, "hda") || !strcmp(text, "hdb");
}

static const char *parse_swap(const char *text)
{
	const char *err = NULL;

	if (strlen(text) >= sizeof(spec))
		return "too long";
	if (!strncmp(text, "sim:", 4))
		err = simdisk_parse(text);
	else if (strcmp(text, "none") && !is_ata(text))
		err = "unknown kind of swap";
	if (!err)
		strlcpy(spec, text, sizeof(spec));
	return err;
}

static void list_swap(char *buf, size_t size)
{
	snprintf(buf, size,
		 "none|hda|hdb|sim:hdd|sim:ssd|sim:ram, then ,size=64M ,seek= ,rotation= "
		 ",transfer= ,latency= (us) ,fail_read= ,fail_write= (every Nth)");
}

static void show_swap(char *buf, size_t size)
{
	snprintf(buf, size, "%s", spec);
}

PARAM_CALL("swap", parse_swap, list_swap, show_swap, "the swap area's disk", AT_BOOT);

bool swapdisk_in_memory(void)
{
	return !strncmp(spec, "sim:", 4);
}

static struct block_device *find_ata(void)
{
	char why[160];
	struct block_device *found = ata_open(spec[2] - 'a', why, sizeof(why)); /* hda is unit 0 */

	if (found)
		return found;
	printk("command line: swap=%s: %s; swap=sim:hdd needs no disk\n", spec, why);
	machine_exit(EXIT_REFUSED);
}

u32 swapdisk_find(void)
{
	if (swapdisk_in_memory())
		disk = simdisk_open(spec);
	else if (is_ata(spec))
		disk = find_ata();
	return disk ? disk->nr_blocks : 0;
}

struct block_device *swapdisk_open(void)
{
	if (disk)
		printk("swap: %s, %u KiB; %s\n", spec, disk->nr_blocks * 4, disk->model);
	return disk;
}
