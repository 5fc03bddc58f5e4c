/*
 * The page cache: which pages of a file are resident.
 *
 * Each inode has a radix tree from page number to page. Without a store behind it (ramfs) the tree
 * is the file: a missing page is a hole, and pages are freed by truncation or with the inode. With
 * a store (a file system on a device, or the device itself) a missing page is read, and pages are
 * evicted to make room, chosen by the policy. Then a shadow stays in the tree. When the page is
 * read again, the shadow tells how many other pages were evicted meanwhile.
 *
 * The states of a page of a file with a store:
 *
 *	locked            being read, truncated, or getting its blocks on the device; others wait
 *	up to date        holds the file's data; a page that is not, after an error, is dropped
 *	dirty             differs from the device: a tag in the tree, and a mask of its sectors
 *	writeback         a write is under way; the page may become dirty again meanwhile
 *	owned, isolated   held by the policy or by reclaim, as for anonymous pages (mm/policy.h)
 *	readahead         not requested by any process yet
 *
 * A page becomes dirty in three ways. write(2) marks the page that it writes. A shared mapping is
 * read-only until a program writes through it: that fault allocates the page's blocks on the device and
 * marks it. When the page is cleaned, all its entries become read-only again, so that the next write is
 * noticed, too: a writable entry means a dirty page. The third way are blocks of metadata (buf.c).
 *
 * Order of locks: inode->lock, then mm->lock, then a page's; those of a file system come last. A task
 * that reads or writes pages may wait for a page's lock only after submitting all queued I/O (io.c).
 * Counts and tags change when a write ends, in an interrupt: so they are changed with interrupts off.
 *
 * The frames may lie in HIGHMEM. Copying to or from user memory may sleep, because the user's page
 * may have to be read, and a kmap slot must not be held across a sleep. So pages in low memory, the
 * common case, are copied in place, and others through a small buffer on the stack (copy.c).
 *
 * While a copy sleeps, the file may change. A page in use is pinned by a reference, and the tree
 * and the size are checked again after each page. A new page is filled before it is added to the
 * tree, so that no reader sees the old contents of its frame. If another task has added a page
 * there meanwhile, the write of that page starts again.
 *
 * Files without a store may fill half of the memory that the boot archive leaves (as tmpfs by
 * default); otherwise nothing would be left for processes. Their memory is allocated without
 * killing processes: filling /tmp ends in ENOSPC. Files end at 4 GiB.
 */
#include "internal.h"

#include "arch/irq.h"
#include "lib/assert.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/slab.h"
#include "mm/frames.h"
#include "mm/vmstat.h"
#include "sched/wait.h"

u32 cache_nr_stored;
u32 cache_nr_kept, cache_max_kept;

static u32 nr_shadows;
static u32 evictions;    /* evictions of file pages since boot */

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

void cache_room(u64 *pages, u64 *left)
{
	*pages = cache_max_kept;
	*left = *pages - MIN(cache_nr_kept, cache_max_kept);
}

void cache_boot_done(void)
{
	cache_max_kept = (nr_managed_pages() + cache_nr_kept) / 2;
}

u32 cache_nr_cached(void)
{
	return cache_nr_kept + cache_nr_stored;
}

/* Adding pages. */

static void note_refault(u32 shadow)
{
	if (((evictions - (shadow >> 1)) & INT32_MAX) <= vm_frames()) /* a shadow has 31 bits */
		stat_count(workingset_refault_file);
}

/* The tree has an item at index. Puts the page in its place if it is a shadow. Returns -EEXIST if
 * it is a page. */
static int replace_shadow(struct radix *pages, u32 index, struct page *page)
{
	void *old = radix_find(pages, index);

	if (!is_shadow(old))
		return -EEXIST;
	radix_replace(pages, index, page);
	nr_shadows--;
	note_refault((uintptr_t)old);
	return 0;
}

/* Inserts the page, and adds one node for each that is missing. */
static int insert_with_nodes(struct radix *pages, u32 index, struct page *page, gfp_t gfp)
{
	struct radix_nodes nodes = { 0 };
	struct radix_node *node;
	unsigned long flags;
	int err;

	do {
		node = kmem_cache_alloc(node_cache(), gfp & ~GFP_HIGH);
		if (!node) {
			err = -ENOMEM;
			break;
		}
		radix_give(&nodes, node);
		flags = irq_save();
		err = radix_insert(pages, index, page, &nodes);
		irq_restore(flags);
	} while (err == -ENOMEM);
	free_nodes(&nodes);
	return err;
}

static inline void describe(struct inode *inode, u32 index, struct page *page)
{
	struct page_cache *cache = &inode->cache;

	page->inode = inode;
	page->file_index = index;
	page->owner = NULL;
	cache->nr_pages++;
	if (unlikely(cache->holes_mapped))
		filemap_unmap_hole(inode, index);
	if (!cache->ops) {
		page_set(page, PG_uptodate);
		cache_nr_kept++;
		return;
	}
	if (is_shmem(inode)) {
		page->flags |= 1u << PG_shmem | 1u << PG_uptodate;
		cache_nr_shmem++;
	} else {
		page->sectors = page->writing = page->nr_io = 0;
	}
	page_set(page, PG_filecache);
	cache_nr_stored++;
	if (!cache->store)
		cache->store = cache_new_store(inode);
}

void cache_describe(struct inode *inode, u32 index, struct page *page)
{
	describe(inode, index, page);
}

static out_of_line int add_slowly(struct inode *inode, u32 index, struct page *page, gfp_t gfp)
{
	struct radix *pages = &inode->cache.pages;
	int err = -EEXIST;

	if (!radix_leaf(pages, index))
		err = insert_with_nodes(pages, index, page, gfp);
	if (err == -EEXIST && !is_shmem(inode))
		err = replace_shadow(pages, index, page);
	if (!err)
		describe(inode, index, page);
	return err;
}

/* Interrupts may stay on if no node is missing: then nothing changes that a handler reads. */
int cache_add(struct inode *inode, u32 index, struct page *page, gfp_t gfp)
{
	if (unlikely(!radix_try_insert(&inode->cache.pages, index, page)))
		return add_slowly(inode, index, page, gfp);
	describe(inode, index, page);
	return 0;
}

/* Removing pages. */

void cache_take_out(struct page *page)
{
	page->inode->cache.nr_pages--;
	page->inode = NULL;
	if (page_test(page, PG_filecache)) {
		cache_nr_stored--;
		cache_nr_shmem -= page_test(page, PG_shmem);
	} else {
		cache_nr_kept--;
	}
	page_put(page);
}

void cache_remove(struct page *page)
{
	struct radix_nodes nodes = { 0 };
	unsigned long flags = irq_save();

	cache_clean(page);
	radix_remove(&page->inode->cache.pages, page->file_index, &nodes);
	irq_restore(flags);
	free_nodes(&nodes);
	if (page_test(page, PG_owned))
		policy_call_remove(page, VM_OUT_FREED);
	cache_take_out(page);
}

void cache_evict(struct page *page)
{
	uintptr_t shadow = (uintptr_t)++evictions << 1 | 1;
	unsigned long flags;

	if (page_test(page, PG_shmem)) {
		shmem_evict(page);
		return;
	}
	if (nr_shadows >= 2 * nr_managed_pages()) {
		cache_remove(page);
		return;
	}
	flags = irq_save();
	radix_replace(&page->inode->cache.pages, page->file_index, (void *)shadow);
	irq_restore(flags);
	nr_shadows++;
	cache_take_out(page);
}

static void forget(const struct inode *inode, u32 index)
{
	struct page_id id = { inode->cache.store, index };

	policy_call_forget(id);
}

void cache_forget_index(struct inode *inode, u32 index)
{
	struct radix_nodes nodes = { 0 };
	unsigned long flags = irq_save();

	radix_remove(&inode->cache.pages, index, &nodes);
	irq_restore(flags);
	free_nodes(&nodes);
	forget(inode, index);
}

/* Drops a page when it is neither read nor written. Another task may remove it meanwhile. */
static void drop_stored(struct inode *inode, u32 index, struct page *page)
{
	page_get(page);
	page_lock(page);
	page_wait_writeback(page);
	if (page->inode == inode) {
		cache_unmap(page);
		cache_remove(page);
		forget(inode, index);
	}
	page_unlock(page);
	page_put(page);
}

/* For a file without a store: drops the pages of one leaf of the tree, from number `from` on. */
static void drop_kept(struct inode *inode, u32 from)
{
	struct radix *pages = &inode->cache.pages;
	struct radix_node *leaf = radix_leaf(pages, from);
	struct radix_nodes nodes = { 0 };
	u32 nr = 0;

	for (u32 slot = from % RADIX_SLOTS; slot < RADIX_SLOTS; slot++) {
		struct page *page = leaf->slot[slot];

		if (!page)
			continue;
		if (unlikely(page->mapcount))
			cache_unmap(page);
		leaf->slot[slot] = NULL;
		page->inode = NULL;
		page_put(page);
		nr++;
	}
	leaf->count -= nr;
	inode->cache.nr_pages -= nr;
	cache_nr_kept -= nr;
	radix_prune(pages, leaf, &nodes);
	free_nodes(&nodes);
}

void cache_drop_from(struct inode *inode, u32 from)
{
	struct page *page;

	while ((page = radix_next(&inode->cache.pages, &from))) {
		if (!inode->cache.ops) {
			drop_kept(inode, from);
		} else if (is_shmem(inode)) {
			shmem_drop(inode, from, page);
		} else if (is_shadow(page)) {
			cache_forget_index(inode, from);
			nr_shadows--;
		} else {
			drop_stored(inode, from, page);
		}
	}
}

/* Data after the end of a file must read as zeros when the file grows again. */
void cache_clear_tail(struct inode *inode)
{
	u32 off = (u32)inode->size & (PAGE_SIZE - 1);
	struct page *page = off ? cache_find(inode, inode->size >> PAGE_SHIFT) : NULL;

	if (!page)
		return;
	page_clear(page, PG_placed); /* blocks after the end are freed */
	if (page_test(page, PG_uptodate))
		page_zero(page, off, PAGE_SIZE - off);
}

void cache_drop(struct inode *inode)
{
	if (inode->cache.pages.root)
		cache_drop_from(inode, 0);
	if (unlikely(inode->cache.nr_writers))
		cache_wait_writers(inode);
}

void cache_forget_evicted(struct inode *inode)
{
	struct page *item;

	for (u32 index = 0; (item = radix_next(&inode->cache.pages, &index)); index++)
		if (is_shadow(item)) {
			cache_forget_index(inode, index);
			nr_shadows--;
		}
}
