/*
 * What the policy learns about a page of a file, and who owns the page: the process that last
 * faulted it in and still maps it. A page that was only read and written is unowned.
 */
#include "fs/gate.h"
#include "internal.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/rmap.h"
#include "mm/frames.h"
#include "mm/vmstat.h"
#include "sched/current.h"

/* tools/plugin/files.c reads these fields */
STATIC_ASSERT(offsetof(struct page, flags) == 0 && offsetof(struct page, inode) == 20);
STATIC_ASSERT(offsetof(struct file, inode) == 0 && PG_filecache == 17 && VM_IN_READ == 3);
STATIC_ASSERT(offsetof(struct inode, cache.store) == 156 && PG_dirty == 7);

/* page_id_of for a page of a file with a store. */
static inline struct page_id id_of(const struct page *page)
{
	return (struct page_id){ page->inode->cache.store, page->file_index };
}

/* At the first use of a page that was read ahead, tells the policy that the page is inserted now.
 * Nothing is lost, since an unused page has no history. */
static void claim(struct page *page, struct mm_struct *owner, enum vm_in how)
{
	policy_call_remove(page, VM_OUT_MOVED);
	page->owner = owner;
	policy_call_insert(page, owner, how, id_of(page));
}

static bool claims(struct page *page)
{
	if (!page_test_and_clear(page, PG_readahead))
		return false;
	if (page_test(page, PG_shmem))
		stat_count(swap_ra_hit);
	else
		stat_count(file_ra_hit);
	return true;
}

void cache_note_io(struct page *page)
{
	bool claimed;

	if (page_test(page, PG_mlocked))
		return;
	claimed = claims(page);
	if (page_test(page, PG_isolated))
		page_set(page, PG_young); /* reclaim tests this flag before it evicts the page */
	else if (!page_test(page, PG_owned))
		policy_call_insert(page, NULL, claimed ? VM_IN_CLAIM : VM_IN_READ, id_of(page));
	else if (claimed)
		claim(page, NULL, VM_IN_READ);
	else
		policy_call_touch(page, current->mm, VM_TOUCH_IO);
}

void cache_note_fault(struct page *page, struct mm_struct *mm)
{
	bool claimed;

	if (page_test(page, PG_mlocked))
		return;
	claimed = claims(page);
	if (page_test(page, PG_isolated)) {
		page->owner = page->owner ?: mm;
	} else if (!page_test(page, PG_owned)) {
		page->owner = mm;
		policy_call_insert(page, mm, claimed ? VM_IN_CLAIM : VM_IN_FAULT, id_of(page));
	} else if (claimed) {
		claim(page, mm, VM_IN_CLAIM);
	} else {
		if (!page->owner)
			policy_call_moved(page, mm);
		policy_call_touch(page, mm, VM_TOUCH_MINOR);
	}
}

bool cache_note_neighbour(struct page *page, struct mm_struct *mm)
{
	if (is_shadow(page) || !page_test(page, PG_uptodate))
		return false;
	if (page->owner)
		return true;
	if (page_test(page, PG_readahead) || !page_test(page, PG_owned))
		return false;
	policy_call_moved(page, mm);
	return true;
}

void cache_note_unmap(struct page *page, struct mm_struct *mm, bool used)
{
	if (used)
		page_set(page, PG_young);
	if (page->owner == mm)
		page_disown(page);
}

static void empty_entry(struct rmap_entry *e, void *arg)
{
	struct page *page = arg;

	*e->pte = pte_zero();
	tlb_flush_page(e->mm->pgd, e->addr);
	page->mapcount--;
	page_put(page);
	mm_count_file(e->mm, -1);
}

void cache_unmap(struct page *page)
{
	rmap_walk(page, empty_entry, page);
}

static int make_locked_writable(struct inode *inode, struct page *page)
{
	u64 at = (u64)page->file_index << PAGE_SHIFT;
	int err;

	page_lock(page);
	if (page->inode != inode || at >= inode->size)
		err = -EAGAIN;
	else
		err = cache_make_blocks(page, 0, MIN(inode->size - at, (u64)PAGE_SIZE));
	if (!err)
		cache_set_dirty(page, ALL_SECTORS);
	page_unlock(page);
	return err;
}

static int make_stored_writable(struct inode *inode, struct page *page)
{
	int err;

	if (inode->state & INODE_SWAP)
		return -EIO;
	do {
		log_begin(inode->sb);
		err = make_locked_writable(inode, page);
	} while (log_end(inode->sb, err));
	return err;
}

int cache_make_writable(struct inode *inode, struct page *page)
{
	int err = 0;

	if (is_shmem(inode)) {
		page_set(page, PG_dirty);
		err = page->inode == inode ? 0 : -EAGAIN;
	} else if (inode->cache.ops) {
		err = make_stored_writable(inode, page);
	}
	if (!err)
		inode_touch(inode);
	return err;
}
