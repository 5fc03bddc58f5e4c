/* A program's advice on its use of a file: posix_fadvise, and madvise for regions that map a file. */
#include "internal.h"

enum { ADV_NORMAL, ADV_RANDOM, ADV_SEQUENTIAL, ADV_WILLNEED, ADV_DONTNEED, ADV_NOREUSE };

#define AT_ONCE 64u

void cache_will_need(struct inode *inode, u32 first, u32 nr)
{
	if (is_shmem(inode))
		shmem_will_need(inode, first, nr);
	if (!inode->cache.ops || is_shmem(inode))
		return;
	for (u32 part; nr; nr -= part, first += part) {
		part = MIN(nr, AT_ONCE);
		cache_prefetch(inode, first, part);
	}
}

/* Drops only whole, clean pages that are not in use. Dirty ones are written, for the next call. */
static void dont_need(struct inode *inode, u64 from, u64 end)
{
	u32 first = PAGE_ALIGN(from) >> PAGE_SHIFT, last = end >> PAGE_SHIFT;

	if (first >= last)
		return;
	cache_write_range(inode, first, last - 1, ~0u, false);
	cache_shrink_range(inode, first, last - 1);
}

int cache_advise(struct file *f, u64 from, u64 n, int advice)
{
	struct inode *inode = f->inode;
	u64 end = n ? MIN(from + n, inode->size) : inode->size;

	switch (advice) {
	case ADV_NORMAL:
	case ADV_RANDOM:
	case ADV_SEQUENTIAL:
		f->ahead.advice = advice;
		return 0;
	case ADV_WILLNEED:
		if (from < end)
			cache_will_need(inode, from >> PAGE_SHIFT,
					((end - 1) >> PAGE_SHIFT) - (from >> PAGE_SHIFT) + 1);
		return 0;
	case ADV_DONTNEED:
		if (inode->cache.ops && from < end)
			dont_need(inode, from, end == inode->size ? PAGE_ALIGN(end) : end);
		return 0;
	}
	return advice == ADV_NOREUSE ? 0 : -EINVAL;
}

STATIC_ASSERT((int)ADV_RANDOM == READ_RANDOM && (int)ADV_SEQUENTIAL == READ_SEQUENTIAL);

bool cache_is_resident(const struct inode *inode, u32 index)
{
	const void *item = radix_find(&inode->cache.pages, index);

	return item && !is_shadow(item);
}
