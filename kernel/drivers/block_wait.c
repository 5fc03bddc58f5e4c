/*
 * Transfers that a task waits for: superblocks, tables, direct I/O, and flushes of a disk's cache.
 */
#include "drivers/disk.h"

#include "errno.h"
#include "sched/current.h"

/* A bio that a task waits for. */
struct waited {
	struct wait_queue over;
	volatile bool done;
	int error;
};

static void waited_end(struct bio *bio)
{
	struct waited *w = bio->private;

	w->error = bio->error;
	w->done = true;
	bio_put(bio);
	wake_up(&w->over);
}

static int submit_and_wait(struct bio *bio)
{
	struct waited w = { .done = false };
	bool was = current->in_iowait;

	wait_queue_init(&w.over);
	bio->private = &w;
	current->in_iowait = true;
	block_submit(bio);
	wait_event(&w.over, w.done);
	current->in_iowait = was;
	return w.error;
}

int block_move(struct block_device *bdev, u32 sector, bool write, enum bio_kind kind,
	       const struct bio_piece *piece, u32 nr)
{
	struct bio *bio = bio_get(bdev, sector, write, kind, waited_end);

	for (u32 i = 0; i < nr; i++)
		bio_add(bio, piece[i].page, piece[i].offset, piece[i].bytes);
	return submit_and_wait(bio);
}

int block_rw(struct block_device *bdev, u32 sector, struct page *page, u32 offset, u32 bytes,
	     bool write)
{
	struct bio_piece piece = { page, offset, bytes };

	return block_move(bdev, sector, write, BIO_META, &piece, 1);
}

bool block_is_dead(const struct block_device *bdev)
{
	return bdev->disk->given_up;
}

int block_flush(struct block_device *bdev)
{
	if (bdev->disk->given_up)
		return -EIO;
	if (!bdev->disk->has_cache)
		return 0;
	return submit_and_wait(bio_get(bdev, 0, true, BIO_META, waited_end));
}
