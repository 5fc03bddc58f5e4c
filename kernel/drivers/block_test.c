/* Merging, both elevators and the time limit, on a disk whose requests end when the test says
 * so. */
#include "bdev.c"
#include "bdev_count.c"
#include "block.c"
#include "elevator.c"
#include "deadline.c"
#include "../lib/rbtree.c"
#include "../lib/rbtree_check.c"
#include "host/host.h"
#include "lib/ktap.h"

#define MS 1000000ull
#define NR 64

struct task_struct *current_task; /* used only by block_dump */

static u64 now;
static struct timer *armed;
static struct disk disk;
static struct block_device part;
static struct bio bio[NR];
static u32 nr_bios, nr_begun, nr_stopped;
static u32 ended[NR], nr_ended; /* numbers of bios, as they end */

u64 clock_ns(void)
{
	return now;
}

void timer_setup(struct timer *t, void (*fn)(struct timer *), bool deferrable)
{
	*t = (struct timer){ .fn = fn, .deferrable = deferrable };
}

void timer_start(struct timer *t, u64 expires_ns)
{
	t->expires_ns = expires_ns;
	armed = t;
}

void timer_stop(struct timer *t)
{
	if (armed == t)
		armed = NULL;
}

void seq_puts(struct seq_file *m, const char *s)
{
	(void)m, (void)s;
}

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	(void)m, (void)fmt;
}

static bool begin(struct disk *d, struct request *rq, int *error)
{
	(void)d, (void)rq, (void)error;
	nr_begun++;
	return false;
}

static void stop(struct disk *d)
{
	(void)d;
	nr_stopped++;
}

static const struct disk_ops test_ops = { .start = begin, .stop = stop };

static void start_disk(bool by_deadline)
{
	block_elevator = by_deadline ? &deadline : NULL;
	now = 1000 * MS;
	nr_bios = nr_begun = nr_ended = nr_stopped = 0;
	disk = (struct disk){ .whole = { .name = "sda", .nr_sectors = 10000 },
			      .ops = &test_ops,
			      .max_pieces = 40,
			      .max_sectors = 64 };
	disk_init(&disk);
	part = (struct block_device){
		.name = "sda1", .nr_sectors = 500, .disk = &disk, .start = 100
	};
}

static void bio_ended(struct bio *b)
{
	ended[nr_ended++] = b - bio;
}

static struct bio *submit_to(struct block_device *b, u32 sector, u32 nr, bool write, u8 kind)
{
	struct bio *new = &bio[nr_bios++];

	*new = (struct bio){ .bdev = b,
			     .sector = sector,
			     .nr_sectors = nr,
			     .nr = (nr + 7) / 8,
			     .write = write,
			     .kind = kind,
			     .end = bio_ended };
	block_submit(new);
	return new;
}

static struct bio *submit(u32 sector, u32 nr, bool write)
{
	return submit_to(&disk.whole, sector, nr, write, BIO_DATA);
}

/* Ends the active request. Returns the sector of the next one. */
static u32 next_sector(void)
{
	block_end(&disk, 0);
	return disk.active ? disk.active->sector : 0;
}

KTEST(block, fifo_keeps_the_order_of_arrival)
{
	start_disk(false);
	submit(900, 8, false);
	submit(500, 8, true);
	submit(100, 8, false);
	submit(700, 8, false);
	EXPECT_EQ(disk.active->sector, 900);
	EXPECT_EQ(next_sector(), 500);
	EXPECT_EQ(next_sector(), 100);
	EXPECT_EQ(next_sector(), 700);
	EXPECT_EQ(next_sector(), 0);
	EXPECT_EQ(disk.whole.count.in_flight, 0);
	EXPECT_EQ(bdev_requests(&disk.whole, false), 3);
}

static void neighbours_join(bool deadline)
{
	start_disk(deadline);
	submit(900, 8, false);
	submit(108, 8, false);
	submit(116, 8, false); /* at its end */
	submit(100, 8, false); /* at its beginning */
	EXPECT_EQ(next_sector(), 100);
	EXPECT_EQ(disk.active->nr_sectors, 24);
	EXPECT_EQ(disk.active->nr_pieces, 3);
	EXPECT_EQ(next_sector(), 0);
	EXPECT_EQ(nr_ended, 4);
	EXPECT_EQ(ended[1], 3);
	EXPECT_EQ(ended[2], 1);
	EXPECT_EQ(ended[3], 2);
	EXPECT_EQ(bdev_requests(&disk.whole, false), 2);
	EXPECT_EQ(bdev_sectors(&disk.whole, false), 32);
	EXPECT_EQ(disk.whole.count.merged[BLOCK_READ], 2);
}

KTEST(block, fifo_joins_neighbours_of_the_last)
{
	neighbours_join(false);
}

KTEST(block, deadline_joins_neighbours)
{
	neighbours_join(true);
}

KTEST(block, a_request_grows_no_larger_than_the_driver_takes)
{
	start_disk(true);
	submit(900, 8, false);
	submit(0, 40, false);
	submit(40, 24, false);
	submit(64, 8, false);
	EXPECT_EQ(next_sector(), 0);
	EXPECT_EQ(disk.active->nr_sectors, 64);
	EXPECT_EQ(next_sector(), 64);
}

KTEST(block, only_the_same_kind_and_direction_and_device_join)
{
	start_disk(true);
	part.start = 0;
	submit(900, 8, false);
	submit(0, 8, false);
	submit(8, 8, true);
	submit_to(&disk.whole, 8, 8, false, BIO_META);
	submit_to(&part, 8, 8, false, BIO_DATA);
	EXPECT_EQ(disk.whole.count.merged[BLOCK_READ] + disk.whole.count.merged[BLOCK_WRITE], 0);
	EXPECT_EQ(disk.whole.count.in_flight, 5);
}

KTEST(block, swap_under_fifo_joins_nothing)
{
	start_disk(false);
	submit(900, 8, false);
	submit_to(&disk.whole, 0, 8, true, BIO_SWAP);
	submit_to(&disk.whole, 8, 8, true, BIO_SWAP);
	EXPECT_EQ(disk.whole.count.merged[BLOCK_WRITE], 0);
	start_disk(true);
	submit(900, 8, false);
	submit_to(&disk.whole, 0, 8, true, BIO_SWAP);
	submit_to(&disk.whole, 8, 8, true, BIO_SWAP);
	EXPECT_EQ(disk.whole.count.merged[BLOCK_WRITE], 1);
}

KTEST(block, what_is_being_served_takes_nothing_more)
{
	start_disk(true);
	submit(0, 8, false);
	submit(8, 8, false);
	EXPECT_EQ(disk.active->nr_sectors, 8);
	EXPECT_EQ(next_sector(), 8);
}

KTEST(block, deadline_goes_one_way)
{
	static const u32 sectors[] = { 500, 300, 700, 100, 600 };

	start_disk(true);
	submit(400, 8, false);
	for (u32 i = 0; i < ARRAY_SIZE(sectors); i++)
		submit(sectors[i], 8, false);
	EXPECT_EQ(next_sector(), 500);
	EXPECT_EQ(next_sector(), 600);
	EXPECT_EQ(next_sector(), 700);
	EXPECT_EQ(next_sector(), 300); /* the oldest: no request lies ahead */
	EXPECT_EQ(next_sector(), 100);
	EXPECT_EQ(next_sector(), 0);
}

KTEST(block, deadline_serves_reads_before_writes_but_not_for_ever)
{
	u32 reads = 0;

	start_disk(true);
	submit(0, 8, false);
	submit(5000, 8, true);
	for (u32 i = 0; i < 60; i++)
		submit(100 + 16 * i, 8, false);
	while (next_sector() != 5000)
		reads++;
	EXPECT(reads >= 2 * BATCH - 1 && reads < 60);
}

KTEST(block, deadline_serves_a_late_one_first)
{
	start_disk(true);
	submit(1000, 8, false);
	submit(100, 8, false); /* behind the head */
	now += 499 * MS;
	for (u32 i = 0; i < 30; i++)
		submit(2000 + 16 * i, 8, false);
	now += 1 * MS;
	for (u32 i = 0; i < BATCH; i++)
		EXPECT_EQ(next_sector(), 2000 + 16 * i);
	EXPECT_EQ(next_sector(), 100);
}

KTEST(block, deadline_does_not_put_a_flush_off)
{
	start_disk(true);
	submit(5000, 8, true);
	for (u32 i = 1; i < 9; i++)
		submit(5000 + 16 * i, 8, true);
	submit_to(&part, 0, 0, true, BIO_META);
	block_end(&disk, 0);
	EXPECT_EQ(disk.active->nr_sectors, 0);
	EXPECT_EQ(next_sector(), 5016);
}

KTEST(block, random_bios_end_once_each_in_every_order)
{
	u32 rnd = ktap_seed_noted();

	for (u32 round = 0; round < 200; round++) {
		bool seen[NR] = { false };
		u32 sectors = 0;

		start_disk(round % 2);
		for (u32 i = 0; i < NR; i++) {
			u32 nr = 1 + ktap_random(&rnd) % 8;

			submit(ktap_random(&rnd) % 200, nr, ktap_random(&rnd) % 2);
			sectors += nr;
			if (ktap_random(&rnd) % 3 == 0 && disk.active)
				block_end(&disk, 0);
		}
		while (disk.active)
			block_end(&disk, 0);
		for (u32 i = 0; i < nr_ended; i++)
			seen[ended[i]] = true;
		for (u32 i = 0; i < NR; i++)
			EXPECT(seen[i]);
		EXPECT_EQ(nr_ended, NR);
		EXPECT_EQ(bdev_sectors(&disk.whole, false) + bdev_sectors(&disk.whole, true),
			  sectors);
		EXPECT_EQ(disk.whole.count.in_flight, 0);
	}
}

KTEST(block, a_partition_begins_at_its_first_sector_and_is_counted)
{
	start_disk(false);
	submit_to(&part, 8, 8, true, BIO_META);
	EXPECT_EQ(disk.active->sector, 108);
	block_end(&disk, 0);
	EXPECT_EQ(part.count.requests[BIO_META][BLOCK_WRITE], 1);
	EXPECT_EQ(disk.whole.count.requests[BIO_META][BLOCK_WRITE], 1);
	EXPECT_EQ(bio[0].sector, 8);
}

KTEST(block, beyond_the_end_is_an_error)
{
	start_disk(false);
	EXPECT_EQ(submit_to(&part, 492, 8, false, BIO_DATA)->error, 0);
	EXPECT_EQ(submit_to(&part, 493, 8, false, BIO_DATA)->error, -EIO);
	EXPECT_EQ(submit_to(&part, UINT32_MAX, 8, false, BIO_DATA)->error, -EIO);
	part.read_only = true;
	EXPECT_EQ(submit_to(&part, 0, 8, true, BIO_DATA)->error, -EIO);
	EXPECT_EQ(part.count.errors, 3);
	EXPECT_EQ(nr_ended, 3);
}

KTEST(block, an_error_reaches_every_bio_of_the_request)
{
	start_disk(false);
	submit(900, 8, false);
	submit(0, 8, false);
	submit(8, 8, false);
	block_end(&disk, 0);
	block_end(&disk, -EIO);
	EXPECT_EQ(bio[0].error, 0);
	EXPECT_EQ(bio[1].error, -EIO);
	EXPECT_EQ(bio[2].error, -EIO);
	EXPECT_EQ(disk.whole.count.errors, 1);
}

KTEST(block, a_request_that_is_to_fail_never_reaches_the_driver)
{
	start_disk(false);
	host_fail_in = 2;
	submit(0, 8, false);
	submit(100, 8, false);
	submit(200, 8, false);
	submit(108, 8, false); /* joins none: the last waiting request is not adjacent */
	block_end(&disk, 0);
	EXPECT_EQ(nr_begun, 1);
	EXPECT_EQ(nr_ended, 1);
	now = armed->expires_ns;
	armed->fn(armed);
	EXPECT_EQ(bio[1].error, -EIO);
	EXPECT_EQ(nr_begun, 2);
	EXPECT_EQ(nr_stopped, 0);
	EXPECT_EQ(next_sector(), 108);
	EXPECT_EQ(next_sector(), 0);
	EXPECT_EQ(bio[2].error | bio[3].error, 0);
}

KTEST(block, no_answer_ends_all_there_are_and_all_that_come)
{
	start_disk(false);
	submit(0, 8, false);
	submit(100, 8, false);
	EXPECT_EQ(armed->expires_ns, now + 30000 * MS);
	now = armed->expires_ns;
	armed->fn(armed);
	EXPECT_EQ(nr_stopped, 1);
	EXPECT_EQ(nr_ended, 2);
	EXPECT_EQ(submit(200, 8, true)->error, -EIO);
	block_end(&disk, 0); /* a late answer */
	EXPECT_EQ(nr_ended, 3);
	EXPECT_EQ(bio[0].error, -EIO);
}

KTEST(block, a_disk_and_its_partition_are_not_held_by_two)
{
	struct block_device other = { .name = "sda2", .disk = &disk };

	start_disk(false);
	bdev_register(&disk.whole);
	bdev_register(&part);
	bdev_register(&other);
	EXPECT_EQ(bdev_claim(&part, "swap"), 0);
	EXPECT_EQ(bdev_claim(&part, "ext2"), -EBUSY);
	EXPECT_EQ(bdev_claim(&disk.whole, "ext2"), -EBUSY);
	EXPECT_EQ(bdev_claim(&other, "ext2"), 0);
	bdev_release(&part);
	bdev_release(&other);
	EXPECT_EQ(bdev_claim(&disk.whole, "ext2"), 0);
	EXPECT_EQ(bdev_claim(&part, "swap"), -EBUSY);
	EXPECT(bdev_find("/dev/sda1") == &part && bdev_find("sda") == &disk.whole);
	EXPECT(!bdev_find("sdb"));
}
