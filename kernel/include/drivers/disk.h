/*
 * What drivers and the block layer (drivers/block.c) share: a disk, its queue and its operations.
 *
 * A disk serves one request at a time. drivers/elevator.c chooses the next one; a driver only
 * begins a request and reports its completion.
 */
#ifndef DRIVERS_DISK_H
#define DRIVERS_DISK_H

#include "drivers/block.h"
#include "sched/timer.h"

struct disk_ops {
	/*
	 * Begins a request. Called with interrupts off, also from interrupts. Must not sleep.
	 * Returns true if it has completed already, with *error set. If false, the driver calls
	 * block_end later.
	 */
	bool (*start)(struct disk *disk, struct request *rq, int *error);
	/*
	 * The active request was not answered: the device must not touch memory any more. Called at
	 * most once. NULL: requests always complete, and have no time limit.
	 */
	void (*stop)(struct disk *disk);
};

struct disk {
	struct block_device whole; /* all of it */
	const struct disk_ops *ops;
	char model[80];              /* description for display */
	u32 max_pieces, max_sectors; /* limits of one request; at least those of a bio */
	bool has_cache;              /* block_flush sends it a request without sectors */

	/* The queue; irq. Set up by disk_init. */
	struct request *active;       /* being served */
	struct list_head arrival[2];  /* waiting, in order of arrival; fifo: all in [0] */
	struct rb_root sorted[2];     /* drivers/deadline.c: the waiting requests by sector */
	u32 position;                 /* the sector after the last one served or being served */
	bool writing;                 /* direction of the active or last request */
	u32 batch, starved;           /* drivers/deadline.c */
	struct timer limit;           /* time limit of the active request, if ops->stop exists */
	bool given_up;                /* did not answer: every request fails */
	u64 busy_since_ns;            /* when the active request began */
	u64 busy_ns;
};

/* Sets up the block layer's fields; the driver has filled in the rest. Boot only. */
void disk_init(struct disk *d);
/* Registers a disk or a partition by its name. */
void bdev_register(struct block_device *b);

/* Completes the active request with 0 or -EIO. Interrupts are off. Does nothing after ops->stop. */
void block_end(struct disk *disk, int error);

/* An order of requests other than fifo. All are called by drivers/elevator.c, with interrupts off. */
struct elevator {
	void (*add)(struct disk *d, struct request *rq); /* puts it in d->arrival */
	void (*moved)(struct disk *d, struct request *rq); /* its first sector has changed */
	struct request *(*neighbour)(struct disk *d, const struct bio *bio, bool *front);
	struct request *(*choose)(
		struct disk *d); /* the next one, still in d->arrival; one waits */
};

extern const struct elevator *block_elevator; /* NULL: fifo */

/* drivers/elevator.c; interrupts are off. */
void elevator_add(struct disk *d, struct request *rq);
struct request *elevator_take(struct disk *d); /* removes the next one; one must wait */
static inline struct request *elevator_next(struct disk *d) /* NULL: none waits */
{
	bool none = list_empty(&d->arrival[0]) && list_empty(&d->arrival[1]);

	return none ? NULL : elevator_take(d);
}
/* Returns the request that bio can join, at its end or (*front) at its beginning, or NULL. */
struct request *elevator_neighbour(struct disk *d, const struct bio *bio, bool *front);
/* Call after a request's first sector has changed. */
void elevator_moved(struct disk *d, struct request *rq);
/* Could bio be the end or (*front) the beginning of the request? A flush has no sectors, so no bio can. */
bool request_adjoins(const struct request *rq, const struct bio *bio, bool *front);

#endif
