/*
 * The page cache: which pages of a file are in memory.
 *
 * Each inode has a radix tree from page number to page. With no store behind it (ramfs) the tree is
 * the file: a page that is not there is a hole, and its pages go with truncation or with the inode.
 *
 * The frames may lie in HIGHMEM. Copying to or from user memory may sleep, for the user's page may
 * have to be read, and a kmap slot must not be held across a sleep; so pages in low memory are
 * copied in place, the common case, and others through a small buffer on the stack.
 *
 * While a copy sleeps the file may change under it. A page in use is pinned by a reference, and
 * tree and size are looked at again after each page. A new page is filled before it is put into the
 * tree, so that no reader sees what its frame held before; if another task put one there meanwhile,
 * the write of that page starts again.
 *
 * Files without a store may fill half of the memory that the boot archive leaves (as tmpfs by
 * default), else nothing would be left for the processes, and memory is asked for without killing
 * anybody: filling /tmp ends in ENOSPC. Files end at 4 GiB.
 */
#include "internal.h"

#include "arch/irq.h"
#include "lib/assert.h"
#include "mm/slab.h"

static u32 nr_kept;      /* pages of files without a store */
static u32 nr_boot_kept; /* that the boot archive has brought */

static struct kmem_cache *node_cache(void)
{
	static struct kmem_cache *cache;

	if (!cache)
		cache = kmem_cache_create("radix_node", sizeof(struct radix_node), 0, NULL);
	return cache;
}

static void free_nodes(struct radix_nodes *nodes)
{
	struct radix_node *node;

	while ((node = radix_take(nodes)))
		kmem_cache_free(node_cache(), node);
}

void cache_init(struct page_cache *cache)
{
	INIT_LIST_HEAD(&cache->regions);
	INIT_LIST_HEAD(&cache->dirty);
}

bool cache_may_grow(void)
{
	return nr_kept < (nr_managed_pages() + nr_boot_kept) / 2;
}

void cache_boot_done(void)
{
	nr_boot_kept = nr_kept;
}

/* Never sleeps. -ENOMEM: a node more is needed. */
static int put_in(struct inode *inode, u32 index, struct page *page, struct radix_nodes *nodes)
{
	struct page_cache *cache = &inode->cache;
	unsigned long flags = irq_save();
	int err = radix_insert(&cache->pages, index, page, nodes);

	irq_restore(flags);
	if (err)
		return err;
	page->inode = inode;
	page->file_index = index;
	page->owner = NULL;
	cache->nr_pages++;
	page_set(page, PG_uptodate);
	nr_kept++;
	return 0;
}

int cache_add(struct inode *inode, u32 index, struct page *page, gfp_t gfp)
{
	struct radix_nodes nodes = { 0 };
	struct radix_node *node;
	int err;

	while ((err = put_in(inode, index, page, &nodes)) == -ENOMEM) {
		node = kmem_cache_alloc(node_cache(), gfp & ~GFP_HIGH);
		if (!node)
			break;
		radix_give(&nodes, node);
	}
	free_nodes(&nodes);
	return err;
}

void cache_remove(struct page *page)
{
	struct page_cache *cache = &page->inode->cache;
	struct radix_nodes nodes = { 0 };
	unsigned long flags = irq_save();

	radix_remove(&cache->pages, page->file_index, &nodes);
	irq_restore(flags);
	free_nodes(&nodes);
	cache->nr_pages--;
	nr_kept--;
	page->inode = NULL;
	page_put(page);
}

static void drop_from(struct inode *inode, u32 from)
{
	struct page *page;

	while ((page = radix_next(&inode->cache.pages, &from)))
		cache_remove(page);
}

/* What lies beyond the end of a file reads as zeros when the file grows again. */
void cache_clear_tail(struct inode *inode)
{
	u32 off = (u32)inode->size & (PAGE_SIZE - 1);
	struct page *page = off ? cache_find(inode, inode->size >> PAGE_SHIFT) : NULL;

	if (page)
		page_zero(page, off, PAGE_SIZE - off);
}

void cache_truncate(struct inode *inode, u64 size)
{
	drop_from(inode, (size + PAGE_SIZE - 1) >> PAGE_SHIFT);
	cache_clear_tail(inode);
}

void cache_drop(struct inode *inode)
{
	drop_from(inode, 0);
}
