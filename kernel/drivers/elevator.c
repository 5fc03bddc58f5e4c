/*
 * The order in which a disk serves requests: block.elevator=.
 *
 * fifo, here: in order of arrival. A bio may join the most recent request, except for swap:
 * mm/reclaim/swap_io.c has combined those pages already.
 *
 * Another order is in a file of its own, like drivers/deadline.c, and sets block_elevator.
 */
#include "drivers/disk.h"

const struct elevator *block_elevator;

void elevator_add(struct disk *d, struct request *rq)
{
	if (block_elevator)
		block_elevator->add(d, rq);
	else
		list_add_tail(&rq->node, &d->arrival[0]);
}

void elevator_moved(struct disk *d, struct request *rq)
{
	if (block_elevator)
		block_elevator->moved(d, rq);
}

bool request_adjoins(const struct request *rq, const struct bio *bio, bool *front)
{
	u32 sector = bio->bdev->start + bio->sector;

	*front = sector + bio->nr_sectors == rq->sector;
	return rq->nr_sectors && bio->nr_sectors &&
	       (*front || rq->sector + rq->nr_sectors == sector);
}

struct request *elevator_neighbour(struct disk *d, const struct bio *bio, bool *front)
{
	struct request *last;

	if (block_elevator)
		return block_elevator->neighbour(d, bio, front);
	if (bio->kind == BIO_SWAP || list_empty(&d->arrival[0]))
		return NULL;
	last = list_last_entry(&d->arrival[0], struct request, node);
	return request_adjoins(last, bio, front) ? last : NULL;
}

struct request *elevator_take(struct disk *d)
{
	struct request *rq = block_elevator
				     ? block_elevator->choose(d)
				     : list_first_entry(&d->arrival[0], struct request, node);

	list_del(&rq->node);
	return rq;
}
