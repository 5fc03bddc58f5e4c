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
 *	swap=sim:hdd                       the preset; empty at boot
 *	swap=sim:ssd,size=64M,latency=50   a preset with changes
 *	disk=sim:hdd,at=96M,size=32M       sda, and given again sdb: its image was loaded there before
 *	                                   boot
 *	disk=sim:hdd,...,cache=1M          sda has a cache that a power cut empties: powercut.c
 */
#include "drivers/simdisk.h"

#include "arch/machine.h"
#include "arch/mmu.h"
#include "drivers/disk.h"
#include "drivers/powercut.h"
#include "lib/jitter.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/page.h"

#define SIZE_MIN (64u << 10)
#define CACHE_MIN (4u << 10)
#define CACHE_MAX (16u << 20)
#define SECTORS_PER_PAGE (PAGE_SIZE / SECTOR_SIZE)

struct disk_model {
	u32 seek, rotation, transfer, latency; /* us; transfer per page */
	u64 size;         /* bytes; 0: all memory above mem= */
	u64 at;    /* start of the image; the cache's memory follows it */
	u64 cache; /* bytes; 0: none */
};

static const struct {
	const char *name;
	struct disk_model model;
} presets[] = {
	{ "hdd", { .seek = 8000, .rotation = 4170, .transfer = 100 } }, /* 7200 rpm, 40 MB/s */
	{ "ssd", { .latency = 90, .transfer = 10 } },
	{ "ram", { 0 } },
};

static const struct {
	const char *name;
	u32 offset;
} numbers[] = {
	{ "seek", offsetof(struct disk_model, seek) },
	{ "rotation", offsetof(struct disk_model, rotation) },
	{ "transfer", offsetof(struct disk_model, transfer) },
	{ "latency", offsetof(struct disk_model, latency) },
};

static struct sim {
	struct disk disk;
	struct disk_model model;
	struct timer service; /* irq: runs until the active request is over */
	u32 first_pfn;
	u32 head;      /* irq: sector under the head */
	u32 first_us;  /* irq; with jitter=: extra time of the first request */
} sims[NR_SIMDISKS] = {
	[SIMDISK_SWAP] = { .disk.whole = { .name = "sim", .dev = 240 << 8 },
			   .model = { .seek = 8000, .rotation = 4170, .transfer = 100 } },
	[SIMDISK_DATA] = { .disk.whole = { .name = "sda", .dev = 8 << 8 } },
	[SIMDISK_DATA_2] = { .disk.whole = { .name = "sdb", .dev = 8 << 8 | 16 } },
};

static bool take_preset(struct disk_model *model, const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(presets); i++)
		if (!strcmp(name, presets[i].name)) {
			*model = presets[i].model;
			return true;
		}
	return false;
}

static const char *set_key(struct disk_model *model, const char *name, const char *value)
{
	if (!strcmp(name, "at"))
		return parse_size(value, &model->at) || model->at % PAGE_SIZE
			       ? "at is not the address of a page"
			       : NULL;
	if (!strcmp(name, "size"))
		return parse_size(value, &model->size) || model->size < SIZE_MIN
			       ? "size is not a size of 64K or more"
			       : NULL;
	if (!strcmp(name, "cache"))
		return parse_size(value, &model->cache) || model->cache < CACHE_MIN ||
				       model->cache > CACHE_MAX
			       ? "cache is not a size from 4K to 16M"
			       : NULL;
	for (u32 i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(name, numbers[i].name))
			return parse_u32(value, (u32 *)((char *)model + numbers[i].offset))
				       ? "not a number of microseconds"
				       : NULL;
	return "unknown key";
}

/* Parses one word of the specification: a preset, or key=value. */
static const char *parse_word(struct disk_model *model, char *word, bool first)
{
	char *eq = strchr(word, '=');

	if (!eq)
		return first && take_preset(model, word) ? NULL : "unknown disk";
	if (first)
		*model = (struct disk_model){ 0 };
	*eq = '\0';
	return set_key(model, word, eq + 1);
}

const char *simdisk_parse(enum simdisk which, const char *spec)
{
	struct disk_model *model = &sims[which].model;
	char copy[SIMDISK_SPEC_MAX], *word = copy, *comma;

	strlcpy(copy, spec + strlen(SIMDISK_PREFIX), sizeof(copy));
	for (bool first = true; word; first = false, word = comma) {
		const char *err;

		comma = strchr(word, ',');
		if (comma)
			*comma++ = '\0';
		err = parse_word(model, word, first);
		if (err)
			return err;
	}
	if (which == SIMDISK_SWAP)
		return model->at || model->cache ? "only disk= has at= and cache=" : NULL;
	if (which == SIMDISK_DATA_2 && model->cache)
		return "only the first disk has cache=";
	return model->at && model->size ? NULL : "at= and size= of its image are missing";
}

u64 simdisk_size(enum simdisk which)
{
	return sims[which].model.size;
}

struct mem_range simdisk_image(enum simdisk which)
{
	const struct disk_model *model = &sims[which].model;

	u64 end = model->at + model->size;

	if (model->cache)
		end = ALIGN_UP(end, (u64)PAGE_SIZE) + powercut_room(model->cache);
	return (struct mem_range){ model->at, end };
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

static bool start_before_cut(struct disk *d, struct request *rq, int *error)
{
	if (rq->write)
		powercut_before(rq);
	return simdisk_start(d, rq, error);
}

static const struct disk_ops ops = { .start = simdisk_start };
static const struct disk_ops cut_ops = { .start = start_before_cut };

static void add_cache(struct sim *s)
{
	const struct disk_model *m = &s->model;
	size_t n = strlen(s->disk.model);

	powercut_open(s->first_pfn, ALIGN_UP(m->at + m->size, (u64)PAGE_SIZE) >> PAGE_SHIFT,
		      m->cache);
	s->disk.ops = &cut_ops;
	s->disk.has_cache = m->cache;
	if (m->cache)
		snprintf(s->disk.model + n, sizeof(s->disk.model) - n, "; cache %u KiB",
			 (u32)m->cache >> 10);
}

struct block_device *simdisk_open(enum simdisk which, u64 start, u64 end)
{
	struct sim *s = &sims[which];
	const struct disk_model *m = &s->model;
	struct disk *d = &s->disk;

	if (end < start + MAX(SIZE_MIN, m->size))
		return NULL;
	s->first_pfn = start >> PAGE_SHIFT;
	s->first_us = jitter_below(2 * (m->seek + m->rotation + m->latency));
	timer_setup(&s->service, service_over, false);
	d->ops = &ops;
	d->max_pieces = d->max_sectors = UINT32_MAX;
	d->whole.nr_sectors = (m->size ?: end - start) >> SECTOR_SHIFT;
	d->whole.synchronous = !(m->seek | m->rotation | m->transfer | m->latency);
	snprintf(d->model, sizeof(d->model), "seek %u, rotation %u, transfer %u, latency %u us",
		 m->seek, m->rotation, m->transfer, m->latency);
	if (which == SIMDISK_DATA && (m->cache || powercut_at()))
		add_cache(s);
	disk_init(d);
	bdev_register(&d->whole);
	return &d->whole;
}
