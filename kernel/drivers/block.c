/* The queue of a block device, and what its requests cost: see drivers/block.h. */
#include "drivers/block.h"

#include "arch/irq.h"
#include "arch/time.h"
#include "lib/assert.h"

static void finish(struct block_device *b, struct bio *bio)
{
	list_del(&bio->node);
	if (bio->write) {
		b->nr_writes++;
		b->pages_written += bio->nr;
	} else {
		b->nr_reads++;
		b->pages_read += bio->nr;
	}
	b->in_flight--;
	b->wait_ns += clock_ns() - bio->submitted_ns;
	bio->end(bio);
}

static void serve_next(struct block_device *b)
{
	while (!list_empty(&b->queue)) {
		struct bio *bio = list_first_entry(&b->queue, struct bio, node);

		b->busy_since_ns = clock_ns();
		if (!b->ops->start(b, bio))
			return;
		finish(b, bio);
	}
}

void block_submit(struct block_device *b, struct bio *bio)
{
	unsigned long flags = irq_save();
	bool idle = list_empty(&b->queue);

	ASSERT(bio->nr && bio->block + bio->nr <= b->nr_blocks);
	bio->submitted_ns = clock_ns();
	list_add_tail(&bio->node, &b->queue);
	b->in_flight++;
	if (idle)
		serve_next(b);
	irq_restore(flags);
}

void block_end(struct block_device *b)
{
	b->busy_ns += clock_ns() - b->busy_since_ns;
	finish(b, list_first_entry(&b->queue, struct bio, node));
	serve_next(b);
}
