/* The counters of a block device, as totals over all kinds of data. */
#include "drivers/disk.h"

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
