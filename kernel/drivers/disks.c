/*
 * The disks besides the modelled one of the swap area: the parameter disk=, which may be given
 * more than once.
 *
 *	sim:hdd,at=96M,size=32M   a modelled disk, sda: drivers/simdisk.c
 *	ide                       hda and hdb: drivers/ata.c
 *
 * Nothing is looked for that nobody has named: a machine without disks starts as fast as ever.
 */
#include "drivers/disks.h"

#include "arch/machine.h"
#include "drivers/ata.h"
#include "drivers/disk.h"
#include "drivers/simdisk.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/bootmem.h"

static char spec[SIMDISK_SPEC_MAX]; /* of sda */

static struct kind {
	const char *name, *prefix; /* of its disks */
	bool (*find)(void);        /* registers them; false: there is none */
	bool wanted, must_be;
} kinds[] = {
	{ .name = "ide", .prefix = "hd", .find = ata_find },
};

static const char *parse_disk(const char *text)
{
	if (!strncmp(text, SIMDISK_PREFIX, strlen(SIMDISK_PREFIX))) {
		if (strlcpy(spec, text, sizeof(spec)) >= sizeof(spec))
			return "too long";
		return simdisk_parse(SIMDISK_DATA, text);
	}
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(text, kinds[i].name)) {
			kinds[i].wanted = kinds[i].must_be = true;
			return NULL;
		}
	return "unknown kind of disk";
}

static void list_disk(char *buf, size_t size)
{
	snprintf(buf, size,
		 "ide|sim:hdd|sim:ssd|sim:ram, sim: with ,at=ADDRESS,size=BYTES of its image, then "
		 "as swap=");
}

static void show_disk(char *buf, size_t size)
{
	strlcpy(buf, spec, size);
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].must_be) {
			strlcat(buf, buf[0] ? " " : "", size);
			strlcat(buf, kinds[i].name, size);
		}
}

PARAM_CALL("disk", parse_disk, list_disk, show_disk, "a disk for files; may be given again",
	   AT_BOOT);

bool disks_want(const char *name)
{
	if (!strncmp(name, "sd", 2))
		return true;
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(name, kinds[i].prefix, 2)) {
			kinds[i].wanted = true;
			return true;
		}
	return false;
}

static void __noreturn refuse(const char *text, const char *why)
{
	printk("command line: disk=%s: %s\n", text, why);
	machine_exit(EXIT_REFUSED);
}

static void find_image(void)
{
	struct mem_range image = simdisk_image();

	if (!bootmem_is_spare(image.start, image.end))
		refuse(spec,
		       "its image is not in memory above mem=; `make qemu DISK=` puts it there");
	simdisk_open(SIMDISK_DATA, image.start, image.end);
}

void disks_find(void)
{
	if (spec[0])
		find_image();
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].wanted && !kinds[i].find() && kinds[i].must_be)
			refuse(kinds[i].name, "there is none");
}

void disks_scan(void)
{
	struct block_device *b = NULL;

	while ((b = bdev_next(b)))
		if (!b->holder && b == &b->disk->whole)
			printk("disk: %s, %u KiB; %s\n", b->name, b->nr_sectors / 2,
			       b->disk->model);
}
