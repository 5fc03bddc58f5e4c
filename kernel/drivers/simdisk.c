/*
 * The modelled disk.
 *
 * Its data lie in the memory above mem=, which the allocator does not manage. A request is served
 * alone, in order of arrival, for
 *
 *	latency + (not where the head stands: seek + rotation) + pages * transfer
 *
 * microseconds of machine time, kept by a timer; the copy is made when the time is over. A
 * request that begins where the last one ended needs no seek, which is what makes clustering
 * pay. With all four 0 ("sim:ram") a request ends before submit returns. The copy costs
 * instructions (1,030 a page), which is little next to the latency that it stands for.
 *
 *	swap=sim:hdd                       the preset
 *	swap=sim:ssd,size=64M,latency=50   one with changes
 *
 * fail_read=N and fail_write=N make every Nth request fail, for tests of error paths.
 */
#include "drivers/simdisk.h"

#include "arch/machine.h"
#include "arch/mmu.h"
#include "drivers/block.h"
#include "drivers/swapdisk.h"
#include "errno.h"
#include "lib/jitter.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/bootmem.h"
#include "mm/page.h"
#include "sched/timer.h"

#define SIZE_MIN (64u << 10)

struct disk_model {
	u32 seek, rotation, transfer, latency; /* us; transfer per page */
	u32 fail_read, fail_write;             /* every Nth; 0: never */
	u64 size;         /* bytes; 0: all there is */
};

static const struct {
	const char *name;
	struct disk_model model;
} presets[] = {
	{ "hdd", { .seek = 8000, .rotation = 4170, .transfer = 100 } }, /* 7200 rpm, 40 MB/s */
	{ "ssd", { .latency = 90, .transfer = 10 } },
	{ "ram", { 0 } },
};

static struct disk_model model = { .seek = 8000, .rotation = 4170, .transfer = 100 };

static const struct {
	const char *name;
	u32 *value;
} keys[] = {
	{ "seek", &model.seek },           { "rotation", &model.rotation },
	{ "transfer", &model.transfer },   { "latency", &model.latency },
	{ "fail_read", &model.fail_read }, { "fail_write", &model.fail_write },
};

static struct timer service;
static u32 first_pfn;
static u32 head;     /* block under the head */
static u32 first_us; /* with jitter=: the first request takes so much longer */

static bool take_preset(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(presets); i++)
		if (!strcmp(name, presets[i].name)) {
			model = presets[i].model;
			return true;
		}
	return false;
}

static const char *set_key(const char *name, const char *value)
{
	if (!strcmp(name, "size"))
		return parse_size(value, &model.size) || model.size < SIZE_MIN
			       ? "size is not a size of 64K or more"
			       : NULL;
	for (u32 i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(name, keys[i].name))
			return parse_u32(value, keys[i].value) ? "not a number of microseconds"
							       : NULL;
	return "unknown key";
}

/* One word of the specification: a preset, or key=value. */
static const char *parse_word(char *word, bool first)
{
	char *eq = strchr(word, '=');

	if (!eq)
		return first && take_preset(word) ? NULL : "unknown disk";
	if (first)
		model = (struct disk_model){ 0 };
	*eq = '\0';
	return set_key(word, eq + 1);
}

const char *simdisk_parse(const char *text)
{
	char copy[SWAP_SPEC_MAX], *word = copy + 4, *comma;

	strlcpy(copy, text, sizeof(copy));
	for (bool first = true; word; first = false, word = comma) {
		const char *err;

		comma = strchr(word, ',');
		if (comma)
			*comma++ = '\0';
		err = parse_word(word, first);
		if (err)
			return err;
	}
	return NULL;
}

u64 simdisk_size(void)
{
	return model.size;
}

static u64 service_ns(const struct bio *bio)
{
	u64 us = model.latency + (u64)bio->nr * model.transfer + first_us;

	first_us = 0;
	if (bio->block != head)
		us += model.seek + model.rotation;
	return us * 1000;
}

static void move_page(struct bio *bio, u32 i)
{
	void *frame = kmap(bio->pages[i]);
	void *store = kmap_pfn(first_pfn + bio->block + i);

	if (bio->write)
		copy_page(store, frame);
	else
		copy_page(frame, store);
	kunmap(store);
	kunmap(frame);
}

static bool must_fail(struct block_device *b, const struct bio *bio)
{
	u32 every = bio->write ? model.fail_write : model.fail_read;

	return every && ((bio->write ? b->nr_writes : b->nr_reads) + 1) % every == 0;
}

/* The request has had its time. */
static void serve(struct block_device *b, struct bio *bio)
{
	bio->error = must_fail(b, bio) ? -EIO : 0;
	for (u32 i = 0; i < bio->nr && !bio->error; i++)
		move_page(bio, i);
	head = bio->block + bio->nr;
}

static bool simdisk_start(struct block_device *b, struct bio *bio)
{
	u64 ns = service_ns(bio);

	if (ns)
		timer_start(&service, b->busy_since_ns + ns);
	else
		serve(b, bio);
	return !ns;
}

static const struct block_device_ops ops = { .start = simdisk_start };

static struct block_device disk = { .name = "sim",
				    .ops = &ops,
				    .queue = LIST_HEAD_INIT(disk.queue) };

static void service_over(struct timer *t)
{
	(void)t;
	serve(&disk, list_first_entry(&disk.queue, struct bio, node));
	block_end(&disk);
}

struct block_device *simdisk_open(const char *spec)
{
	u64 start, end;

	bootmem_store_range(&start, &end);
	if (end < start + SIZE_MIN || (model.size && end - start < model.size)) {
		printk("command line: swap=%s: %llu KiB of memory above mem= for its data; start QEMU "
		       "with a larger -m, or use a smaller size= or mem=, or swap=none\n",
		       spec, (end - start) >> 10);
		machine_exit(EXIT_REFUSED);
	}
	first_pfn = start >> PAGE_SHIFT;
	disk.nr_blocks = (end - start) >> PAGE_SHIFT;
	disk.synchronous = !(model.seek | model.rotation | model.transfer | model.latency);
	first_us = jitter_below(2 * (model.seek + model.rotation + model.latency));
	timer_setup(&service, service_over, false);
	snprintf(disk.model, sizeof(disk.model), "seek %u, rotation %u, transfer %u, latency %u us",
		 model.seek, model.rotation, model.transfer, model.latency);
	return &disk;
}
