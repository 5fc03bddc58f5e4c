/*
 * Reading and writing one page of a file with a store.
 *
 * A write first allocates the blocks that it covers, so that a full device is reported at once and
 * not when the page is written back. The page is locked for that, but not for the copy, which may
 * fault on a mapping of the same page. The file's size grows after the copy; until then `reach`
 * says how far its data extend, for a task that writes the page back meanwhile.
 */
#include "arch/uaccess.h"
#include "fs/gate.h"
#include "internal.h"
#include "mm/frames.h"

int stored_read(struct file *f, u32 index, u32 off, char *user, u32 n, u32 left)
{
	u32 pages = (off + left + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct page *page;
	bool major = false;
	bool again = f->ahead.next == index + 1; /* a page read in pieces counts as one use */
	int err;

	if (is_shmem(f->inode) && !radix_find(&f->inode->cache.pages, index))
		return clear_user(user, n);
	err = cache_read_page(f->inode, index, pages, &f->ahead, &page, &major);
	if (err)
		return err;
	if (!(again && off) || !page_test(page, PG_owned))
		cache_note_io(page);
	err = page_to_user(page, off, user, n);
	page_put(page);
	return err;
}

/*
 * Writes to a page that is not resident and whose contents on the device do not matter, because the
 * whole page is written or lies after the end. Fills a new page and adds it to the cache, locked
 * until its blocks are allocated. Returns -EEXIST if another task has added a page meanwhile.
 */
static int write_new(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	struct page *page = cache_alloc(inode, (n == PAGE_SIZE ? 0 : GFP_ZERO) |
						       (is_device(inode) ? GFP_KERNEL : GFP_USER));
	int err;

	if (!page)
		return -ENOMEM;
	err = page_from_user(page, off, user, n);
	page->flags |= 1u << PG_locked | 1u << PG_uptodate;
	if (!err)
		err = cache_add(inode, index, page, GFP_KERNEL);
	if (err) {
		page->flags &= ~(1u << PG_locked | 1u << PG_uptodate);
		page_put(page);
		return err;
	}
	err = cache_make_blocks(page, off, n);
	if (!err) {
		cache_set_dirty(page, ALL_SECTORS);
		cache_note_io(page);
	} else {
		page_get(page);
		cache_remove(page);
	}
	page_unlock(page);
	if (err)
		page_put(page);
	return err;
}

static int write_old(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	struct page *page;
	int err = cache_get_page(inode, index, &page);

	if (err)
		return err;
	page_lock(page);
	err = page->inode == inode ? cache_make_blocks(page, off, n) : -EEXIST;
	if (!err) /* including newly allocated blocks not copied to: they hold zeros here */
		cache_set_dirty(page, ALL_SECTORS);
	page_unlock(page);
	if (!err) {
		err = page_from_user(page, off, user, n);
		if (page->inode == inode)
			cache_set_dirty(page, ALL_SECTORS);
		else if (!err)
			err = -EEXIST;
	}
	page_put(page);
	return err;
}

static int write_page(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	int err;

	do {
		if (!cache_find(inode, index) &&
		    (n == PAGE_SIZE || (u64)index << PAGE_SHIFT >= inode->size))
			err = write_new(inode, index, off, user, n);
		else
			err = write_old(inode, index, off, user, n);
	} while (err == -EEXIST);
	return err;
}

/* Removes what a failed write has left after the end of the file. */
static void cut_rest(struct inode *inode)
{
	cache_clear_tail(inode);
	if (inode->ops->truncate)
		inode->ops->truncate(inode, inode->size);
}

/* With a log: blocks and size change together. */
static int write_logged(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	u64 end = ((u64)index << PAGE_SHIFT) + off + n;
	int err;

	do {
		log_begin(inode->sb);
		err = write_page(inode, index, off, user, n);
		if (err)
			cut_rest(inode);
		else
			inode->size = MAX(inode->size, end);
		inode_mark_dirty(inode);
	} while (log_end(inode->sb, err));
	return err;
}

int stored_write(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	int err;

	if (is_shmem(inode))
		return shmem_write(inode, index, off, user, n);
	if (writeback_hopeless(&inode->cache))
		return -EIO;
	inode->cache.reach = (index << PAGE_SHIFT) + off + n;
	err = unlikely(inode->sb->log) ? write_logged(inode, index, off, user, n)
				       : write_page(inode, index, off, user, n);
	if (!err)
		writeback_throttle(&inode->cache);
	return err;
}

void stored_end(struct inode *inode, int err)
{
	inode->cache.reach = 0;
	if (!err || is_device(inode))
		return;
	if (is_shmem(inode))
		shmem_clear_tail(inode, inode->size);
	log_begin(inode->sb);
	cut_rest(inode);
	log_end(inode->sb, 0);
}
