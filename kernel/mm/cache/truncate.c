/* Removing some pages of a file: those after its new end, and clean ones that can be read again. */
#include "internal.h"

#include "mm/frames.h"
#include "mm/mm.h"

/* The device must hold zeros, too, so the last page is read if necessary and marked dirty. */
static void clear_stored_tail(struct inode *inode, u64 size)
{
	struct page *page;

	if (!(size & (PAGE_SIZE - 1)) || cache_get_page(inode, size >> PAGE_SHIFT, &page))
		return;
	cache_clear_tail(inode);
	cache_set_dirty(page, ALL_SECTORS);
	page_put(page);
}

void cache_truncate(struct inode *inode, u64 size)
{
	u32 first = (size + PAGE_SIZE - 1) >> PAGE_SHIFT;

	if (inode->cache.pages.root)
		cache_drop_from(inode, first);
	filemap_unmap_rest(inode, first);
	if (is_shmem(inode))
		shmem_clear_tail(inode, size);
	else if (inode->cache.ops)
		clear_stored_tail(inode, size);
	else
		cache_clear_tail(inode);
}

u32 cache_shrink_range(struct inode *inode, u32 first, u32 last)
{
	u32 busy = 1u << PG_locked | 1u << PG_dirty | 1u << PG_writeback | 1u << PG_isolated;
	struct page *page;
	u32 nr = 0;

	if (!inode->cache.ops || is_shmem(inode))
		return 0;
	for (; (page = radix_next(&inode->cache.pages, &first)) && first <= last; first++) {
		if (is_shadow(page) || page->count > 1 || page->flags & busy)
			continue;
		cache_remove(page);
		nr++;
	}
	return nr;
}

u32 cache_shrink(struct inode *inode)
{
	return cache_shrink_range(inode, 0, CACHE_MAX_SIZE >> PAGE_SHIFT);
}
