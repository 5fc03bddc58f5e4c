/*
 * Shared memory: files whose pages are evicted to the swap area. Memory that is shared after a fork,
 * memfd, System V segments and the files of tmpfs are all such files, and differ only in their names.
 *
 * The radix tree is the file, as in ramfs. At each page number there is
 *
 *	nothing    a hole: zeros; the first fault or write creates a page; in a tmpfs, the first write
 *	a page     resident
 *	a slot     in the swap area, as 2 * slot + 1: pages are at even addresses
 *
 * The tree counts as one entry that names the slot (mm/swap.h), like a page-table entry of
 * anonymous memory. A page that was read back stays in the swap cache while it is clean, so that it
 * need not be written again. A write makes it dirty, as for other files: entries are read-only
 * until a fault has marked the page. A page without a slot counts as dirty.
 *
 *	hole -> page -> isolated, gets a slot, unmapped, written -> the slot takes the page's place
 *	         ^                                                  |
 *	         +---- read by swap_in, then moved to the file -----+
 *
 * For a policy the page has the identity {store, number} from the start, but it is not a page of a
 * file. The policy does not see its slot. Only a neighbour that was read ahead is identified by its
 * slot, since its file is not known until a process requests it.
 *
 * Pages are never locked here: a new page is filled before it becomes visible, and a page that is
 * being read does not belong to the file yet. Truncation may remove a page that reclaim is just
 * writing; reclaim then finds the page without a file, and frees the slot.
 *
 * The pages of a file system are counted, resident or not, before they are created, so that it
 * cannot exceed its size (tmpfs). Interrupt handlers never access these trees.
 */
#include "errno.h"
#include "internal.h"
#include "lib/assert.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/swap.h"
#include "mm/frames.h"
#include "sched/current.h"

const struct cache_ops shmem_ops;

u32 cache_nr_shmem;

static LIST_HEAD(swapped_files); /* of page_cache.dirty: files with pages in the swap area */

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

/* Adding pages. */

static bool reserve(struct super_block *sb)
{
	if (sb->max_pages && sb->nr_pages >= sb->max_pages)
		return false;
	sb->nr_pages++;
	return true;
}

/* Creates a page of zeros. Returns 0, -ENOSPC, -ENOMEM, or -EEXIST if it is no longer a hole. */
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

/* Moves a page that has been read to its file. It stays in the swap cache unless swap is nearly full. */
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

/* Reads the page, which is in the slot unless that changed while we slept. Returns 0, -EIO,
 * -ENOMEM. again: a clustered read that included this page has failed. */
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

/* Removing pages. */

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

/* If reclaim has isolated the page, reclaim also frees its slot. */
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

/* Clears the data after the new end, so that they do not reappear when the file grows again. */
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

/* Reading pages back for swapoff. */

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
