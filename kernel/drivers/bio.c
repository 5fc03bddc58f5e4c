/*
 * Allocation of bios.
 *
 * They come from a fixed pool, since code that frees memory must not allocate any. A task that
 * finds the pool empty waits until a bio ends.
 */
#include "drivers/disk.h"

#include "arch/irq.h"
#include "errno.h"
#include "sched/current.h"

#define NR_BIOS 32

static struct bio bios[NR_BIOS];
static u32 nr_bios_used;     /* irq: of bios; those after it are still unused */
static LIST_HEAD(free_bios); /* irq */
static WAIT_QUEUE(bio_wait);

static inline struct bio *bio_take(void)
{
	unsigned long flags = irq_save();
	struct bio *bio = NULL;

	if (!list_empty(&free_bios)) {
		bio = list_first_entry(&free_bios, struct bio, node);
		list_del(&bio->node);
	} else if (nr_bios_used < NR_BIOS) {
		bio = &bios[nr_bios_used++];
	}
	irq_restore(flags);
	return bio;
}

static out_of_line struct bio *wait_for_bio(void)
{
	bool was = current->in_pagewait;
	struct bio *bio;

	current->in_pagewait = true;
	wait_event(&bio_wait, (bio = bio_take()));
	current->in_pagewait = was;
	return bio;
}

struct bio *bio_get(struct block_device *bdev, u32 sector, bool write, enum bio_kind kind,
		    void (*end)(struct bio *bio))
{
	struct bio *bio = bio_take();

	if (unlikely(!bio))
		bio = wait_for_bio();
	bio->bdev = bdev;
	bio->sector = sector;
	bio->nr_sectors = 0;
	bio->nr = 0;
	bio->kind = kind;
	bio->write = write;
	bio->error = 0;
	bio->end = end;
	return bio;
}

void bio_put(struct bio *bio)
{
	unsigned long flags = irq_save();

	list_add(&bio->node, &free_bios);
	irq_restore(flags);
	if (unlikely(!list_empty(&bio_wait.waiters)))
		wake_up(&bio_wait);
}

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
