/* All block devices, by name and by number; claims on them; /proc/partitions, /proc/diskstats. */
#include "drivers/disk.h"

#include "errno.h"
#include "fs/proc.h"
#include "lib/string.h"

static LIST_HEAD(devices);

void bdev_register(struct block_device *b)
{
	list_add_tail(&b->node, &devices);
}

struct block_device *bdev_next(struct block_device *b)
{
	struct list_head *next = b ? b->node.next : devices.next;

	return next == &devices ? NULL : list_entry(next, struct block_device, node);
}

bool bdev_is_disk(const struct block_device *b)
{
	return b == &b->disk->whole;
}

struct block_device *bdev_find(const char *name)
{
	struct block_device *b = NULL;

	if (!strncmp(name, "/dev/", 5))
		name += 5;
	while ((b = bdev_next(b)) && strcmp(b->name, name))
		;
	return b;
}

struct block_device *bdev_by_dev(u32 dev)
{
	struct block_device *b = NULL;

	while ((b = bdev_next(b)) && b->dev != dev)
		;
	return b;
}

/* Do a and b share sectors? Two partitions of a valid table do not. */
static bool overlap(const struct block_device *a, const struct block_device *b)
{
	return a == b || (a->disk == b->disk && (bdev_is_disk(a) || bdev_is_disk(b)));
}

int bdev_claim(struct block_device *b, const char *holder)
{
	struct block_device *other = NULL;

	while ((other = bdev_next(other)))
		if (other->holder && overlap(b, other))
			return -EBUSY;
	b->holder = holder;
	b->nr_lost = 0;
	return 0;
}

void bdev_release(struct block_device *b)
{
	b->holder = NULL;
}

u64 bdev_requests(const struct block_device *b, bool write)
{
	u64 sum = 0;

	for (u32 kind = 0; kind < NR_BIO_KINDS; kind++)
		sum += b->count.requests[kind][write];
	return sum;
}

u64 bdev_sectors(const struct block_device *b, bool write)
{
	u64 sum = 0;

	for (u32 kind = 0; kind < NR_BIO_KINDS; kind++)
		sum += b->count.sectors[kind][write];
	return sum;
}

u64 bdev_wait_ns(const struct block_device *b)
{
	return b->count.wait_ns[BLOCK_READ] + b->count.wait_ns[BLOCK_WRITE];
}

u64 bdev_busy_ns(const struct block_device *b)
{
	return b->disk->busy_ns;
}

static void partitions_show(struct seq_file *m)
{
	struct block_device *b = NULL;

	seq_puts(m, "major minor  #blocks  name\n\n");
	while ((b = bdev_next(b)))
		seq_printf(m, "%4u  %7u %10u %s\n", b->dev >> 8, b->dev & 0xFF, b->nr_sectors / 2,
			   b->name);
}

static u64 ms(u64 ns)
{
	return ns / 1000000;
}

static void show_direction(struct seq_file *m, const struct block_device *b, bool write)
{
	seq_printf(m, " %llu %llu %llu %llu", bdev_requests(b, write), b->count.merged[write],
		   bdev_sectors(b, write), ms(b->count.wait_ns[write]));
}

/* The busy time of partitions is not measured. */
static void diskstats_show(struct seq_file *m)
{
	struct block_device *b = NULL;

	while ((b = bdev_next(b))) {
		seq_printf(m, "%4u %7u %s", b->dev >> 8, b->dev & 0xFF, b->name);
		show_direction(m, b, false);
		show_direction(m, b, true);
		seq_printf(m, " %u %llu %llu\n", b->count.in_flight,
			   bdev_is_disk(b) ? ms(bdev_busy_ns(b)) : 0, ms(bdev_wait_ns(b)));
	}
}

static const struct proc_file files[] = {
	{ "diskstats", diskstats_show, NULL },
	{ "partitions", partitions_show, NULL },
	{ NULL, NULL, NULL },
};

PROC_FILES(files);
