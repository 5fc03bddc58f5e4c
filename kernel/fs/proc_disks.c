/* /proc/partitions and /proc/diskstats. */
#include "procfs.h"

#include "drivers/block.h"

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
