/*
 * Room for pages of a file before they are written (fallocate). A file in memory gets its pages. A
 * hole of a stored file becomes a dirty page of zeros: it takes blocks at once, so that a full device
 * is reported now, and zeros are written, because ext2 cannot mark blocks as not yet written.
 */
#include "errno.h"
#include "internal.h"
#include "mm/frames.h"
#include "sched/current.h"

/* Has the page a block that lies nowhere yet? Returns 1, 0 or -EIO. */
static int has_hole(struct inode *inode, u32 index)
{
	u32 bits = PAGE_SHIFT - inode->block_bits;
	u32 block = index << bits, end = block + (1u << bits);
	struct extent e;

	for (; block < end; block += e.blocks) {
		int err = inode->cache.ops->map(inode, block, end - block, false, &e);

		if (err)
			return err;
		if (!e.sector)
			return 1;
	}
	return 0;
}

static int reserve_page(struct inode *inode, u32 index)
{
	bool stored = inode->cache.ops && !is_shmem(inode);
	struct page *page;
	int err;

	if (stored) {
		err = has_hole(inode, index);
		if (err <= 0)
			return err;
	}
	err = cache_get_page(inode, index, &page);
	if (err)
		return err == -ENOMEM && !inode->cache.ops ? -ENOSPC : err;
	if (stored)
		err = cache_make_writable(inode, page);
	page_put(page);
	if (stored && !err)
		writeback_throttle(&inode->cache);
	return err;
}

int cache_reserve(struct inode *inode, u32 first, u32 last)
{
	int err;

	for (u32 index = first; index <= last; index++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		do
			err = reserve_page(inode, index);
		while (err == -EAGAIN);
		if (err)
			return err == -EINVAL ? 0 : err; /* the file has become shorter meanwhile */
		cond_resched();
	}
	return 0;
}
