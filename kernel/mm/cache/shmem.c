/*
 * Shared memory: files whose pages leave for the swap area. Memory that is shared after a fork, memfd,
 * System V segments and the files of tmpfs are all such files, and differ only in their names.
 *
 * The radix tree is the file, as that of ramfs: a number holds
 *
 *	nothing    a hole: zeros; the first fault or write makes a page of it
 *	a page     in memory
 *	a slot     in the swap area, as 2 * slot + 1: pages are at even addresses
 *
 * The tree counts as one entry that names the slot (mm/swap.h), as an entry of a page table does for
 * anonymous memory. A page that came back stays in the swap cache while it is clean, so that it need
 * not be written again; who writes to it makes it dirty, as for other files: entries are read-only
 * until a fault has marked the page. A page without a slot counts as dirty.
 *
 *	hole -> page -> isolated, gets a slot, unmapped, written -> the slot takes the page's place
 *	         ^                                                  |
 *	         +---- read by swap_in, then moved to the file -----+
 *
 * To a policy the page is the file's, {store, number}, from the start, but no page of a file: its slot
 * is nobody's business. Only a neighbour that was read ahead is known by its slot, since nobody can say
 * whose it is before somebody asks for it.
 *
 * No page is ever locked here: a new one is filled before it is seen, and one that is being read is
 * not the file's yet. Who truncates takes away a page that reclaim is just writing; it finds the page
 * without a file then, and frees the slot.
 *
 * The pages of a file system are counted, in memory or not, before they are made, so that it cannot
 * grow over its size (tmpfs). Interrupts never look at these trees.
 */
#include "errno.h"
#include "internal.h"
#include "lib/assert.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/swap.h"
#include "proc/task.h"

const struct cache_ops shmem_ops;

u32 cache_nr_shmem;

static LIST_HEAD(swapped_files); /* of page_cache.dirty: those with pages in the swap area */

static void *slot_item(u32 slot)
{
	return (void *)(uintptr_t)(slot << 1 | 1);
}

static u32 item_slot(const void *item)
{
	return (uintptr_t)item >> 1;
}

static void count_swapped(struct page_cache *cache, int n)
{
	if (!cache->nr_swapped)
		list_add_tail(&cache->dirty, &swapped_files);
	cache->nr_swapped += n;
	if (!cache->nr_swapped)
		list_del_init(&cache->dirty);
}

/* Pages come. */

static bool reserve(struct super_block *sb)
{
	if (sb->max_pages && sb->nr_pages >= sb->max_pages)
		return false;
	sb->nr_pages++;
	return true;
}

/* -EEXIST: there is something now. */
static int fill_hole(struct inode *inode, u32 index, gfp_t gfp)
{
	struct page *page;
	int err = -ENOMEM;

	if (!reserve(inode->sb))
		return -ENOSPC;
	page = alloc_page(gfp | GFP_ZERO);
	if (page)
		err = cache_add(inode, index, page, gfp);
	if (!err)
		return 0;
	inode->sb->nr_pages--;
	if (page)
		page_put(page);
	return err;
}

/* A page that has been read becomes the file's. It stays in the swap cache as long as there is room. */
static void move_in(struct inode *inode, u32 index, struct page *page)
{
	u32 slot = page->slot;

	ASSERT(!page_test(page, PG_isolated) && !page->mapcount);
	if (page_test(page, PG_owned)) {
		policy_call_remove(page, VM_OUT_MOVED);
		page_set(page, PG_readahead);
	}
	page_clear(page, PG_anon);
	frames_uncharge();
	page_get(page);
	radix_replace(&inode->cache.pages, index, page);
	cache_describe(inode, index, page);
	count_swapped(&inode->cache, -1);
	swap_free(slot);
	if (swap_nearly_full() || swap_slot_leaves(slot))
		swap_cache_del(page);
}

static bool holds_slot(const struct inode *inode, u32 index, u32 slot)
{
	return radix_find(&inode->cache.pages, index) == slot_item(slot);
}

/* The page at that number is in the slot, or was before we slept: 0, -EIO, -ENOMEM. again: a request
 * that it was part of has failed. */
static int read_back(struct inode *inode, u32 index, u32 slot, bool alone, bool again, bool *major)
{
	struct page *page;
	int err = 0;

	alone |= !page_cluster;
	page = swap_in_slot(slot, NULL, alone, major);
	if (!page)
		return holds_slot(inode, index, slot) ? -ENOMEM : 0;
	page_wait_unlocked(page);
	if (!page_test(page, PG_swapcache) || page->slot != slot) {
		page_put(page);
		return 0;
	}
	if (page_test(page, PG_error) && !page_test(page, PG_uptodate)) {
		swap_cache_del(page);
		err = -EIO;
	} else if (holds_slot(inode, index, slot)) {
		if (*major && current->mm)
			swap_note_refault(current->mm, slot);
		move_in(inode, index, page);
	} else {
		swap_cache_release(page);
	}
	page_put(page);
	return err && !again && !(alone && *major)
		       ? read_back(inode, index, slot, true, true, major)
		       : err;
}

int shmem_get_page(struct inode *inode, u32 index, gfp_t gfp, bool alone, struct page **found,
		   bool *major)
{
	void *item;
	int err;

	while (is_shadow(item = radix_find(&inode->cache.pages, index)) || !item) {
		if (item)
			err = read_back(inode, index, item_slot(item), alone, false, major);
		else
			err = fill_hole(inode, index, gfp);
		if (err && err != -EEXIST)
			return err;
	}
	*found = item;
	page_get(*found);
	return 0;
}

int shmem_write(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	bool major = false;
	struct page *page;
	int err = shmem_get_page(inode, index, GFP_USER | GFP_NORETRY, true, &page, &major);

	if (err)
		return err;
	cache_note_io(page);
	err = page_from_user(page, off, user, n);
	page_set(page, PG_dirty);
	page_put(page);
	return err;
}

void shmem_will_need(struct inode *inode, u32 first, u32 nr)
{
	u32 end = first + nr;
	void *item;

	for (; (item = radix_next(&inode->cache.pages, &first)) && first < end; first++)
		if (is_shadow(item) && !swap_cached(item_slot(item)))
			swap_prefetch(item_slot(item), page_cluster);
}

/* Pages go. */

void shmem_evict(struct page *page)
{
	struct page_cache *cache = &page->inode->cache;

	swap_note_eviction(page->slot);
	swap_dup(page->slot);
	radix_replace(&cache->pages, page->file_index, slot_item(page->slot));
	count_swapped(cache, 1);
	swap_cache_del(page);
	cache_take_out(page);
}

/* What reclaim holds it also frees. */
static void drop_page(struct page *page)
{
	cache_unmap(page);
	if (page_test(page, PG_swapcache) && !page_test(page, PG_isolated))
		swap_cache_del(page);
	if (page_test(page, PG_owned))
		policy_call_remove(page, VM_OUT_FREED);
	cache_take_out(page);
}

static void drop_slot(struct inode *inode, u32 slot)
{
	struct page *page = swap_cache_get(slot);

	count_swapped(&inode->cache, -1);
	swap_free(slot);
	if (!page)
		return;
	swap_cache_release(page);
	page_put(page);
}

void shmem_drop(struct inode *inode, u32 index, void *item)
{
	cache_forget_index(inode, index);
	if (is_shadow(item))
		drop_slot(inode, item_slot(item));
	else
		drop_page(item);
	inode->sb->nr_pages--;
}

/* What was behind the end must not come back with it. */
void shmem_clear_tail(struct inode *inode, u64 size)
{
	struct page *page;
	bool major;

	if (!(size & (PAGE_SIZE - 1)) || !radix_find(&inode->cache.pages, size >> PAGE_SHIFT))
		return;
	if (shmem_get_page(inode, size >> PAGE_SHIFT, GFP_USER, true, &page, &major))
		return;
	cache_clear_tail(inode);
	page_set(page, PG_dirty);
	cache_note_io(page);
	page_put(page);
}

/* An area is being switched off. */

static void unuse_file(struct inode *inode, u32 first, u32 end)
{
	struct page *page;
	void *item;
	u32 index = 0;

	for (; (item = radix_next(&inode->cache.pages, &index)); index++) {
		u32 slot = item_slot(item);

		if (!is_shadow(item) || slot < first || slot >= end)
			continue;
		page = swap_cache_get(slot);
		if (!page)
			continue;
		if (!page_test(page, PG_locked) && page_test(page, PG_uptodate)) {
			move_in(inode, index, page);
			page_clear(page, PG_readahead);
			policy_call_insert(page, NULL, VM_IN_ADOPT, page_id_of(page));
		}
		page_put(page);
	}
}

void shmem_unuse(u32 first, u32 end)
{
	struct page_cache *cache, *next;

	list_for_each_entry_safe(cache, next, &swapped_files, dirty)
		unuse_file(container_of(cache, struct inode, cache), first, end);
}

/* Checking. */

static u32 count_slots(const struct page_cache *cache)
{
	u32 index = 0, nr = 0;
	const void *item;

	for (; (item = radix_next(&cache->pages, &index)); index++)
		nr += is_shadow(item) && swap_slot_valid(item_slot(item));
	return nr;
}

u32 shmem_nr_swapped(bool *sound)
{
	const struct page_cache *cache;
	u32 nr = 0;

	list_for_each_entry(cache, &swapped_files, dirty) {
		if (count_slots(cache) != cache->nr_swapped)
			*sound = false;
		nr += cache->nr_swapped;
	}
	return nr;
}
