/*
 * Modelled disks: one for the swap area, sda and sdb.
 *
 * The data lie in the memory above mem=, which the allocator does not manage. Requests are served
 * one at a time; each takes
 *
 *	latency + (if the head must move: seek + rotation) + sectors * transfer / 8
 *
 * microseconds of machine time, measured by a timer. The data are copied when that time is over. A
 * request that begins where the last one ended needs no seek, which is why clustering pays off.
 * With all four 0 ("sim:ram") a request ends before submit returns. The copy costs instructions
 * (600 per page; 1,100 if the sectors span two pages of the store), which is little compared
 * with the latency that it represents.
 *
 * How the command line describes one: drivers/simdisk_spec.c. Extents: drivers/simdisk_layout.c.
 */
#include "drivers/simdisk.h"

#include "arch/machine.h"
#include "arch/mmu.h"
#include "drivers/simdisk_state.h"
#include "lib/jitter.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/page.h"

#define SECTORS_PER_PAGE (PAGE_SIZE / SECTOR_SIZE)

static struct sim sims[NR_SIMDISKS] = {
	[SIMDISK_SWAP] = { .disk.whole = { .name = "sim", .dev = 240 << 8 },
			   .model = { .seek = 8000, .rotation = 4170, .transfer = 100 } },
	[SIMDISK_DATA] = { .disk.whole = { .name = "sda", .dev = 8 << 8 } },
	[SIMDISK_DATA_2] = { .disk.whole = { .name = "sdb", .dev = 8 << 8 | 16 } },
};

const struct disk_model *simdisk_model(enum simdisk which)
{
	return &sims[which].model;
}

void simdisk_set_model(enum simdisk which, const struct disk_model *model)
{
	sims[which].model = *model;
}

static u64 service_ns(struct sim *s, const struct request *rq)
{
	u64 us = s->model.latency + s->first_us;

	s->first_us = 0;
	if (rq->sector != s->head)
		us += s->model.seek + s->model.rotation;
	return us * 1000 + (u64)rq->nr_sectors * s->model.transfer * (1000 / SECTORS_PER_PAGE);
}

static void move_page(const struct sim *s, struct page *page, u32 sector, bool write)
{
	void *frame = kmap(page), *store = kmap_pfn(s->first_pfn + sector / SECTORS_PER_PAGE);

	if (write)
		copy_page(store, frame);
	else
		copy_page(frame, store);
	kunmap(store);
	kunmap(frame);
}

/* Out of line, so that tools/plugin sees the data moved. */
out_of_line void copy_sectors(void *to, const void *from, u32 n)
{
	memcpy(to, from, n);
}

/* Sectors may start anywhere in a page of the store and continue in the next page. */
static out_of_line void move_part(const struct sim *s, const struct bio_piece *piece, u32 sector,
				  bool write)
{
	for (u32 done = 0, n; done < piece->bytes; done += n, sector += n / SECTOR_SIZE) {
		u32 in_page = sector % SECTORS_PER_PAGE * SECTOR_SIZE;
		char *frame = kmap(piece->page), *here = frame + piece->offset + done;
		char *store = kmap_pfn(s->first_pfn + sector / SECTORS_PER_PAGE);
		char *there = store + in_page;

		n = MIN(PAGE_SIZE - in_page, piece->bytes - done);
		copy_sectors(write ? there : here, write ? here : there, n);
		kunmap(store);
		kunmap(frame);
	}
}

static void move(const struct sim *s, const struct request *rq)
{
	u32 sector = rq->sector;
	const struct bio *bio;

	list_for_each_entry(bio, &rq->bios, node)
		for (const struct bio_piece *p = bio->piece; p < bio->piece + bio->nr; p++) {
			if (p->bytes == PAGE_SIZE && sector % SECTORS_PER_PAGE == 0)
				move_page(s, p->page, sector, rq->write);
			else
				move_part(s, p, sector, rq->write);
			sector += p->bytes / SECTOR_SIZE;
		}
}

/* The time of the request is over: moves the data. */
static int serve(struct sim *s, const struct request *rq)
{
	s->head = rq->sector + rq->nr_sectors;
	move(s, rq);
	return 0;
}

static bool simdisk_start(struct disk *d, struct request *rq, int *error)
{
	struct sim *s = container_of(d, struct sim, disk);
	u64 ns = service_ns(s, rq);

	if (ns)
		timer_start(&s->service, d->busy_since_ns + ns);
	else
		*error = serve(s, rq);
	return !ns;
}

static void service_over(struct timer *t)
{
	struct sim *s = container_of(t, struct sim, service);

	block_end(&s->disk, serve(s, s->disk.active));
}

static const struct disk_ops ops = { .start = simdisk_start };
const struct disk_ops *simdisk_ops = &ops;

struct block_device *simdisk_open(enum simdisk which, u64 start, u64 end)
{
	struct sim *s = &sims[which];
	const struct disk_model *m = &s->model;
	struct disk *d = &s->disk;

	if (end < start + MAX(SIMDISK_SIZE_MIN, m->size))
		return NULL;
	s->first_pfn = start >> PAGE_SHIFT;
	s->first_us = jitter_below(2 * (m->seek + m->rotation + m->latency));
	timer_setup(&s->service, service_over, false);
	d->ops = simdisk_ops;
	d->max_pieces = d->max_sectors = UINT32_MAX;
	d->whole.nr_sectors = (m->size ?: end - start) >> SECTOR_SHIFT;
	d->whole.synchronous = !(m->seek | m->rotation | m->transfer | m->latency);
	snprintf(d->model, sizeof(d->model), "seek %u, rotation %u, transfer %u, latency %u us",
		 m->seek, m->rotation, m->transfer, m->latency);
	disk_init(d);
	bdev_register(&d->whole);
	return &d->whole;
}
