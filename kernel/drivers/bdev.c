/* All block devices, by name and by number; claims on them. */
#include "drivers/disk.h"

#include "errno.h"
#include "lib/string.h"

static LIST_HEAD(devices);

void bdev_register(struct block_device *b)
{
	list_add_tail(&b->node, &devices);
}

struct block_device *bdev_next(struct block_device *b)
{
	struct list_head *next = b ? b->node.next : devices.next;

	return next == &devices ? NULL : list_entry(next, struct block_device, node);
}

bool bdev_is_disk(const struct block_device *b)
{
	return b == &b->disk->whole;
}

struct block_device *bdev_find(const char *name)
{
	struct block_device *b = NULL;

	if (!strncmp(name, "/dev/", 5))
		name += 5;
	while ((b = bdev_next(b)) && strcmp(b->name, name))
		;
	return b;
}

struct block_device *bdev_by_dev(u32 dev)
{
	struct block_device *b = NULL;

	while ((b = bdev_next(b)) && b->dev != dev)
		;
	return b;
}

/* Do a and b share sectors? Two partitions of a valid table do not. */
static bool overlap(const struct block_device *a, const struct block_device *b)
{
	return a == b || (a->disk == b->disk && (bdev_is_disk(a) || bdev_is_disk(b)));
}

int bdev_claim(struct block_device *b, const char *holder)
{
	struct block_device *other = NULL;

	while ((other = bdev_next(other)))
		if (other->holder && overlap(b, other))
			return -EBUSY;
	b->holder = holder;
	b->nr_lost = 0;
	return 0;
}

void bdev_release(struct block_device *b)
{
	b->holder = NULL;
}

u64 bdev_requests(const struct block_device *b, bool write)
{
	u64 sum = 0;

	for (u32 kind = 0; kind < NR_BIO_KINDS; kind++)
		sum += b->count.requests[kind][write];
	return sum;
}

u64 bdev_sectors(const struct block_device *b, bool write)
{
	u64 sum = 0;

	for (u32 kind = 0; kind < NR_BIO_KINDS; kind++)
		sum += b->count.sectors[kind][write];
	return sum;
}

u64 bdev_wait_ns(const struct block_device *b)
{
	return b->count.wait_ns[BLOCK_READ] + b->count.wait_ns[BLOCK_WRITE];
}

u64 bdev_busy_ns(const struct block_device *b)
{
	return b->disk->busy_ns;
}
