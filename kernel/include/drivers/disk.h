/*
 * What drivers and the block layer (drivers/block.c) share: a disk, its queue and its operations.
 *
 * A disk serves one request at a time. Which one comes next, drivers/elevator.c says; a driver
 * only begins a request and says when it is over.
 */
#ifndef DRIVERS_DISK_H
#define DRIVERS_DISK_H

#include "drivers/block.h"
#include "sched/timer.h"

struct disk_ops {
	/*
	 * Begins a request. Called with interrupts off, also from interrupts; must not sleep. True:
	 * it is over already, and *error is set; false: the driver calls block_end later.
	 */
	bool (*start)(struct disk *disk, struct request *rq, int *error);
	/*
	 * The request under way gets no answer: the device must not touch memory any more. It is
	 * not called again. NULL: an answer is certain, and no time is kept.
	 */
	void (*stop)(struct disk *disk);
};

struct disk {
	struct block_device whole; /* all of it */
	const struct disk_ops *ops;
	char model[80];              /* what it is, for people */
	u32 max_pieces, max_sectors; /* that one request may have; at least a bio's */
	bool has_cache;              /* block_flush sends it a request without sectors */

	/* The queue; irq. Set up by disk_init. */
	struct request *active;       /* is being served */
	struct list_head arrival[2];  /* waiting; with deadline by direction, else in the first */
	struct rb_root sorted[2];     /* the same by sector, with deadline */
	u32 position;                 /* the sector after the last one that was served or is */
	bool writing;                 /* its direction */
	u32 batch, starved;           /* drivers/elevator.c */
	struct timer limit;           /* runs while a request does, if there is ops->stop */
	bool given_up;                /* did not answer: every request fails */
	u64 busy_since_ns;            /* when the active request was begun */
	u64 busy_ns;
};

/* Sets up what the block layer keeps; the driver has filled in the rest. Boot only. */
void disk_init(struct disk *d);
/* Makes a disk, or a partition, known by its name. */
void bdev_register(struct block_device *b);

/* The active request is over: 0 or -EIO. Interrupts are off. After ops->stop it does nothing. */
void block_end(struct disk *disk, int error);

/* drivers/elevator.c; interrupts are off. */
void elevator_add(struct disk *d, struct request *rq);
struct request *elevator_take(struct disk *d); /* takes the next out; one waits */
static inline struct request *elevator_next(struct disk *d) /* NULL: none waits */
{
	bool none = list_empty(&d->arrival[0]) && list_empty(&d->arrival[1]);

	return none ? NULL : elevator_take(d);
}
/* The request that bio could join, at its end or (*front) at its beginning; or NULL. */
struct request *elevator_neighbour(struct disk *d, const struct bio *bio, bool *front);
/* A request's first sector has changed. */
void elevator_moved(struct disk *d, struct request *rq);

#endif
