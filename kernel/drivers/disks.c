/*
 * The disks besides the modelled swap disk: the parameter disk=, which may be given more than once.
 *
 *	sim:hdd,at=96M,size=32M   a modelled disk, sda, and then sdb: drivers/simdisk.c
 *	ide                       hda and hdb: drivers/ata.c
 *	virtio                    vda, vdb, ...: drivers/virtio_blk.c
 *
 * Only named disks are looked for, so a machine without disks boots as fast as ever.
 */
#include "drivers/disks.h"

#include "arch/machine.h"
#include "drivers/disk.h"
#include "drivers/partition.h"
#include "drivers/powercut.h"
#include "drivers/simdisk.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/bootmem.h"
#include "mm/page.h"
#include "mm/slab.h"
#include "mm/zone.h"

static char specs[2][SIMDISK_SPEC_MAX]; /* of sda and sdb */

extern struct disk_kind __disk_kinds_start[], __disk_kinds_end[];

#define for_each_kind(k) for (struct disk_kind *k = __disk_kinds_start; k < __disk_kinds_end; k++)

static const char *parse_modelled(const char *text)
{
	u32 i = specs[0][0] ? 1 : 0;

	if (specs[i][0])
		return "there are two modelled disks already";
	if (strlcpy(specs[i], text, sizeof(specs[i])) >= sizeof(specs[i]))
		return "too long";
	return simdisk_parse(SIMDISK_DATA + i, text);
}

static const char *parse_disk(const char *text)
{
	if (!strncmp(text, SIMDISK_PREFIX, strlen(SIMDISK_PREFIX))) {
		return parse_modelled(text);
	}
	for_each_kind(k) if (!strcmp(text, k->name))
	{
		k->wanted = k->must_be = true;
		return NULL;
	}
	return "unknown kind of disk";
}

static void list_disk(char *buf, size_t size)
{
	snprintf(
		buf, size,
		"ide|virtio|sim:hdd|sim:ssd|sim:ram, sim: with ,at=ADDRESS,size=BYTES of its image, then "
		",cache=1M, and as swap=");
}

static void show_disk(char *buf, size_t size)
{
	strlcpy(buf, specs[0], size);
	if (specs[1][0])
		strlcat(buf, " ", size);
	strlcat(buf, specs[1], size);
	for_each_kind(k) if (k->must_be)
	{
		strlcat(buf, buf[0] ? " " : "", size);
		strlcat(buf, k->name, size);
	}
}

PARAM_CALL("disk", parse_disk, list_disk, show_disk, "a disk for files; may be given again",
	   AT_BOOT);

bool disks_want(const char *name)
{
	if (!strncmp(name, "sd", 2))
		return true;
	for_each_kind(k) if (!strncmp(name, k->prefix, 2))
	{
		k->wanted = true;
		return true;
	}
	return false;
}

static void __noreturn refuse(const char *text, const char *why)
{
	printk("command line: disk=%s: %s\n", text, why);
	machine_exit(EXIT_REFUSED);
}

static void __noreturn refuse_cut(void)
{
	printk("command line: cut=%u: there is no modelled disk for files; `make qemu DISK=` adds one\n",
	       powercut_at());
	machine_exit(EXIT_REFUSED);
}

static const struct disk_ops *uncut_ops;

static bool start_before_cut(struct disk *d, struct request *rq, int *error)
{
	if (rq->write)
		powercut_before(rq);
	return uncut_ops->start(d, rq, error);
}

/* Gives sda its cache, and prepares the cut. */
static void add_cache(struct disk *d, struct mem_range image)
{
	static const struct disk_ops cut_ops = { .start = start_before_cut };
	const struct disk_model *m = simdisk_model(SIMDISK_DATA);
	size_t n = strlen(d->model);

	powercut_open(image.start >> PAGE_SHIFT,
		      ALIGN_UP(m->at + m->size, (u64)PAGE_SIZE) >> PAGE_SHIFT, m->cache);
	uncut_ops = d->ops;
	d->ops = &cut_ops;
	d->has_cache = m->cache;
	if (m->cache)
		snprintf(d->model + n, sizeof(d->model) - n, "; cache %u KiB", (u32)m->cache >> 10);
}

static void find_image(u32 i)
{
	struct mem_range image = simdisk_image(SIMDISK_DATA + i);
	struct block_device *b;

	if (!bootmem_is_spare(image.start, image.end) ||
	    (i && image.start < simdisk_image(SIMDISK_DATA).end))
		refuse(specs[i],
		       "its image is not in memory above mem=; `make qemu DISK=` puts it there");
	b = simdisk_open(SIMDISK_DATA + i, image.start, image.end);
	if (b && !i && (simdisk_model(SIMDISK_DATA)->cache || powercut_at()))
		add_cache(b->disk, image);
}

void disks_find(void)
{
	if (!specs[0][0] && powercut_at())
		refuse_cut();
	for (u32 i = 0; i < ARRAY_SIZE(specs) && specs[i][0]; i++)
		find_image(i);
	for_each_kind(k) if (k->wanted && !k->find() && k->must_be)
		refuse(k->name, "there is none");
}

struct named {
	struct block_device bdev;
	char name[16];
};

/* The minor numbers of the partitions follow that of their disk. */
static void add_partition(struct disk *d, const struct partition *p)
{
	struct named *part = kzalloc(sizeof(*part), GFP_KERNEL);

	if (!part)
		panic("no memory for a partition");
	snprintf(part->name, sizeof(part->name), "%s%u", d->whole.name, p->number);
	part->bdev = (struct block_device){ .name = part->name,
					    .dev = d->whole.dev + p->number,
					    .nr_sectors = p->nr_sectors,
					    .read_only = d->whole.read_only,
					    .synchronous = d->whole.synchronous,
					    .disk = d,
					    .start = p->start };
	bdev_register(&part->bdev);
	printk(" %s", part->name);
}

struct reader {
	struct partition_source source;
	struct block_device *bdev;
	struct page *page;
};

static int read_sector(struct partition_source *source, u32 sector, u8 *to)
{
	struct reader *r = container_of(source, struct reader, source);
	int err = block_rw(r->bdev, sector, r->page, 0, SECTOR_SIZE, false);

	if (!err)
		memcpy(to, page_address(r->page), SECTOR_SIZE);
	return err;
}

static void scan(struct disk *d)
{
	static struct partition_table table;
	struct reader r = { { d->whole.nr_sectors, read_sector },
			    &d->whole,
			    alloc_page(GFP_KERNEL) };

	if (!r.page)
		panic("no memory to read a partition table");
	partition_table_read(&r.source, &table);
	free_pages(r.page, 0);
	printk("disk: %s, %u KiB; %s; partitions:", d->whole.name, d->whole.nr_sectors / 2,
	       d->model);
	for (u32 i = 0; i < table.nr; i++)
		add_partition(d, &table.parts[i]);
	printk(table.nr ? "\n" : " none\n");
	if (table.wrong)
		printk("disk: %s: bad partition table: %s; %s\n", d->whole.name, table.wrong,
		       table.nr ? "its copy is used" : "it is ignored");
}

/* Reads the partition tables of unclaimed disks and prints what they contain. Sleeps. */
static void disks_scan(void)
{
	struct block_device *b = NULL;

	while ((b = bdev_next(b)))
		if (!b->holder && bdev_is_disk(b))
			scan(b->disk);
}

AT_STAGE(disks, 10, disks_scan);
