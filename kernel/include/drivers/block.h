/*
 * Block devices in units of pages. A request moves some frames to or from consecutive blocks; its
 * end function is called when it is over, in irq context.
 *
 * A device serves one request at a time, in order of arrival. The queue and the counts are kept
 * here (drivers/block.c); a driver only begins a request and says when it is over.
 */
#ifndef DRIVERS_BLOCK_H
#define DRIVERS_BLOCK_H

#include "lib/list.h"
#include "types.h"

struct page;
struct block_device;

#define BIO_MAX_PAGES 32u

struct bio {
	struct list_head node; /* the device's queue */
	u32 block;             /* first block, in pages */
	u32 nr;  /* pages */
	bool write;
	int error;             /* out, set by the driver: 0 or -EIO */
	u64 submitted_ns;
	void (*end)(struct bio *bio); /* irq context; frees the bio */
	struct page *pages[BIO_MAX_PAGES];
};

struct block_device_ops {
	/*
	 * Begins the request at the head of the queue. Called with interrupts off, also from
	 * interrupts; must not sleep. True: it is over already, and bio->error is set; false: the
	 * driver sets it later and calls block_end.
	 */
	bool (*start)(struct block_device *bdev, struct bio *bio);
};

struct block_device {
	const char *name; /* in /proc/swaps */
	char model[80];   /* what it is, for people */
	u32 nr_blocks;    /* pages */
	const struct block_device_ops *ops;
	bool read_only;
	struct inode *inode;
	bool synchronous; /* requests end before submit returns: reading ahead saves nothing */
	struct list_head queue; /* irq: of struct bio.node; set up by the driver */
	u64 busy_since_ns;      /* irq: when the head of the queue was begun */
	u32 in_flight;
	u64 nr_reads, nr_writes;             /* requests */
	u64 pages_read, pages_written;
	u64 busy_ns, wait_ns;                /* serving; all requests' time from submit to end */
};

/* Queues a request. Never sleeps; irq-safe. */
void block_submit(struct block_device *bdev, struct bio *bio);

/* The driver: the request at the head of the queue is over. Interrupts are off. */
void block_end(struct block_device *bdev);

struct block_device *bdev_find(const char *name);
struct block_device *bdev_by_dev(u32 dev);
int bdev_claim(struct block_device *b, const char *holder);
void bdev_release(struct block_device *b);
int block_flush(struct block_device *bdev);

#endif
