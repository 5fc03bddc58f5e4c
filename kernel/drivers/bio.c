/*
 * Allocation of bios.
 *
 * They come from a fixed pool, since code that frees memory must not allocate any. A task that
 * finds the pool empty waits until a bio ends.
 */
#include "drivers/disk.h"

#include "arch/irq.h"
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
