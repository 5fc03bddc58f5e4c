/*
 * Block devices in units of pages. A request moves some frames to or from consecutive blocks; the
 * device calls end when it is over, in irq context.
 */
#ifndef DRIVERS_BLOCK_H
#define DRIVERS_BLOCK_H

#include "lib/list.h"
#include "types.h"

struct page;
struct block_device;
struct seq_file;

#define BIO_MAX_PAGES 32u

struct bio {
	struct list_head node; /* the device's queue */
	u32 block;             /* first block, in pages */
	u32 nr;  /* pages */
	bool write;
	int error;             /* out: 0 or -EIO */
	u64 submitted_ns;
	void (*end)(struct bio *bio); /* irq context; frees the bio */
	struct page *pages[BIO_MAX_PAGES];
};

struct block_device_ops {
	void (*submit)(struct block_device *bdev, struct bio *bio); /* never sleeps */
};

struct block_device {
	const char *name;
	u32 nr_blocks; /* pages */
	const struct block_device_ops *ops;
	bool synchronous; /* requests end before submit returns: reading ahead saves nothing */
	u32 in_flight;
	u64 nr_reads, nr_writes;             /* requests */
	u64 pages_read, pages_written;
	u64 busy_ns, wait_ns;                /* serving; all requests' time from submit to end */
};

#endif
