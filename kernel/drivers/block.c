/*
 * Turns bios into requests, has them served, and counts their costs.
 *
 * A bio adjacent to a waiting request of its kind and direction, at either end, joins it, up to the
 * driver's limits. Any other bio begins its own request. The driver then serves the whole request
 * at once, and all its bios end together.
 *
 * A request without an answer within LIMIT_NS fails, and so do all later requests to that disk: the
 * disk was stopped, so that it does not write into frames that have been reused.
 *
 * A request that is to fail (observe/fail.h) never reaches the driver. It ends after FAIL_NS, or
 * gets no answer.
 */
#include "drivers/disk.h"

#include "arch/irq.h"
#include "arch/time.h"
#include "errno.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "observe/fail.h"
#include "sched/current.h"

#define LIMIT_NS 30000000000ull
#define FAIL_NS 1000000u

static u32 block_dump;
PARAM_U32("vm.block_dump", block_dump, 0, 1, NULL,
	  "1: the console shows who reads and writes which sectors of disks");

static inline void count(struct block_device *b, const struct request *rq, u64 wait_ns, int error)
{
	struct block_counts *c = &b->count;

	c->requests[rq->kind][rq->write]++;
	c->sectors[rq->kind][rq->write] += rq->nr_sectors;
	c->wait_ns[rq->write] += wait_ns;
	if (unlikely(error))
		c->errors++;
	c->in_flight--;
}

/* The bio that contains the request may end before others, but is not reused meanwhile: no task can
 * take it from the pool while interrupts are off. */
static void finish(struct disk *d, int error, u64 now_ns)
{
	struct request *rq = d->active;
	struct bio *bio, *next;

	d->busy_ns += now_ns - d->busy_since_ns;
	count(&d->whole, rq, now_ns - rq->submitted_ns, error);
	if (unlikely(rq->bdev != &d->whole))
		count(rq->bdev, rq, now_ns - rq->submitted_ns, error);
	list_for_each_entry_safe(bio, next, &rq->bios, node) {
		bio->error = error;
		bio->end(bio);
	}
}

static bool start_failing(struct disk *d, enum fail_how how)
{
	if (how == FAILS && d->whole.synchronous)
		return true;
	timer_start(&d->limit, d->busy_since_ns + (how == FAILS_MUTE ? LIMIT_NS : FAIL_NS));
	return false;
}

static bool start(struct disk *d, int *error)
{
	*error = -EIO;
	if (d->given_up)
		return true;
	if (unlikely(d->active->fails))
		return start_failing(d, d->active->fails);
	if (d->ops->start(d, d->active, error))
		return true;
	if (d->ops->stop)
		timer_start(&d->limit, d->busy_since_ns + LIMIT_NS);
	return false;
}

/* Serves a request (NULL: none) and then the queued ones. active stays set while bios end, so that
 * bios submitted by their end functions are only queued. */
static void serve(struct disk *d, struct request *rq, u64 now_ns)
{
	int error;

	for (; (d->active = rq); rq = elevator_next(d)) {
		d->position = rq->sector + rq->nr_sectors;
		d->writing = rq->write;
		d->busy_since_ns = now_ns;
		if (!start(d, &error))
			return;
		now_ns = clock_ns();
		finish(d, error, now_ns);
	}
}

static bool fits(const struct disk *d, const struct request *rq, const struct bio *bio)
{
	return rq->bdev == bio->bdev && rq->kind == bio->kind && rq->write == bio->write &&
	       rq->nr_pieces + bio->nr <= d->max_pieces &&
	       rq->nr_sectors + bio->nr_sectors <= d->max_sectors;
}

static bool join(struct disk *d, struct bio *bio)
{
	bool front;
	struct request *rq = elevator_neighbour(d, bio, &front);

	if (!rq || !fits(d, rq, bio))
		return false;
	rq->nr_sectors += bio->nr_sectors;
	rq->nr_pieces += bio->nr;
	if (front) {
		list_add(&bio->node, &rq->bios);
		rq->sector -= bio->nr_sectors;
		elevator_moved(d, rq);
	} else {
		list_add_tail(&bio->node, &rq->bios);
	}
	d->whole.count.merged[bio->write]++;
	if (bio->bdev != &d->whole)
		bio->bdev->count.merged[bio->write]++;
	return true;
}

/* Makes a request of one bio. A flush gets the disk's position, so that no elevator delays it. */
static struct request *request_of(struct disk *d, struct bio *bio)
{
	struct request *rq = &bio->own;

	rq->bdev = bio->bdev;
	rq->sector = bio->nr_sectors ? bio->bdev->start + bio->sector : d->position;
	rq->nr_sectors = bio->nr_sectors;
	rq->nr_pieces = bio->nr;
	rq->kind = bio->kind;
	rq->write = bio->write;
	rq->fails = fail_request(bio->bdev, bio->sector, bio->write);
	rq->submitted_ns = bio->submitted_ns;
	INIT_LIST_HEAD(&rq->bios);
	list_add(&bio->node, &rq->bios);
	d->whole.count.in_flight++;
	if (unlikely(bio->bdev != &d->whole))
		bio->bdev->count.in_flight++;
	return rq;
}

static bool acceptable(const struct bio *bio)
{
	const struct block_device *b = bio->bdev;

	return bio->nr_sectors <= b->nr_sectors && bio->sector <= b->nr_sectors - bio->nr_sectors &&
	       !(bio->write && b->read_only);
}

void block_submit(struct bio *bio)
{
	struct disk *d = bio->bdev->disk;
	unsigned long flags = irq_save();

	if (unlikely(block_dump))
		printk("%s(%d): %s block %u on %s (%u sectors)\n", current->comm, current->pid,
		       bio->write ? "WRITE" : "READ", bio->sector, bio->bdev->name,
		       bio->nr_sectors);
	bio->submitted_ns = clock_ns();
	if (!acceptable(bio)) {
		bio->bdev->count.errors++;
		bio->error = -EIO;
		bio->end(bio);
	} else if (!d->active) {
		serve(d, request_of(d, bio), bio->submitted_ns);
	} else if (!join(d, bio)) {
		elevator_add(d, request_of(d, bio));
	}
	irq_restore(flags);
}

void block_end(struct disk *d, int error)
{
	u64 now_ns = clock_ns();

	if (d->given_up)
		return;
	if (d->ops->stop)
		timer_stop(&d->limit);
	finish(d, error, now_ns);
	serve(d, elevator_next(d), now_ns);
}

static void limit_reached(struct timer *t)
{
	struct disk *d = container_of(t, struct disk, limit);
	u64 now_ns = clock_ns();

	if (d->active->fails == FAILS) {
		block_end(d, -EIO);
		return;
	}
	d->given_up = true;
	if (d->ops->stop)
		d->ops->stop(d);
	printk("%s: no answer for %llu s: given up, all requests fail\n", d->whole.name,
	       LIMIT_NS / 1000000000);
	finish(d, -EIO, now_ns);
	serve(d, elevator_next(d), now_ns);
}

void disk_init(struct disk *d)
{
	d->whole.disk = d;
	INIT_LIST_HEAD(&d->arrival[0]);
	INIT_LIST_HEAD(&d->arrival[1]);
	timer_setup(&d->limit, limit_reached, false);
}
