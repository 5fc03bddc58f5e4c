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
