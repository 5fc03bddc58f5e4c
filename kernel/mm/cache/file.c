/*
 * Reading and writing a file by way of its page cache: page by page, as far as it goes. A page of a
 * file without a store that is not there reads as zeros, and comes with the first write.
 */
#include "arch/uaccess.h"
#include "internal.h"
#include "lib/string.h"
#include "mm/guard_core.h"
#include "proc/task.h"

#define GFP_FILE (GFP_USER | GFP_NORETRY)

/* Reading. */

/* left: bytes that the reader needs from off on. */
static __attribute__((noinline)) int read_stored(struct file *f, u32 index, u32 off, char *user,
						 u32 n, u32 left)
{
	u32 pages = (off + left + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct page *page;
	bool major = false;
	bool again = f->ahead.next == index + 1; /* a page read in pieces is used once */
	int err;

	if (!f->inode->cache.ops)
		return clear_user(user, n);
	err = cache_read_page(f->inode, index, pages, &f->ahead, &page, &major);
	if (err)
		return err;
	if (!again || !page_test(page, PG_owned))
		cache_note_io(page);
	err = page_to_user(page, off, user, n);
	page_put(page);
	return err;
}

static inline int read_page(struct file *f, u32 index, u32 off, char *user, u32 n, u32 left)
{
	struct page *page = cache_find(f->inode, index);
	int err;

	if (unlikely(!page || page_test(page, PG_filecache)))
		return read_stored(f, index, off, user, n, left);
	page_get(page);
	err = page_to_user(page, off, user, n);
	page_put(page);
	return err;
}

long cache_file_read(struct file *f, void *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	u32 at = *pos, done = 0;
	int err = 0;

	if (*pos >= inode->size)
		return 0;
	n = MIN((u64)n, MIN(inode->size, (u64)CACHE_MAX_SIZE) - MIN(at, CACHE_MAX_SIZE));
	while (done < n) {
		u32 off = at & (PAGE_SIZE - 1);
		u32 len = MIN(PAGE_SIZE - off, n - done);

		err = read_page(f, at >> PAGE_SHIFT, off, (char *)user + done, len, n - done);
		if (err)
			break;
		at += len;
		done += len;
	}
	*pos = at;
	if (err == -EINVAL) /* the file has become shorter meanwhile */
		err = 0;
	return done ? (long)done : err;
}

long cache_read_kernel(struct inode *inode, u64 pos, void *to, size_t n)
{
	u32 at = pos, done = 0, len;
	struct page *page;
	int err;

	if (pos >= inode->size)
		return 0;
	n = MIN(n, (u32)inode->size - at);
	for (; done < n; at += len, done += len) {
		u32 off = at & (PAGE_SIZE - 1);

		len = MIN(PAGE_SIZE - off, n - done);
		if (!inode->cache.ops && !cache_find(inode, at >> PAGE_SHIFT)) {
			memset((char *)to + done, 0, len);
			continue;
		}
		err = cache_get_page(inode, at >> PAGE_SHIFT, &page);
		if (err)
			return done ? (long)done : err;
		page_read(page, off, (char *)to + done, len);
		page_put(page);
	}
	return done;
}

/* The page of a number with a reference; a hole is filled with zeros. 0 or -ENOMEM. */
static int get_page(struct inode *inode, u32 index, struct page **page)
{
	struct page *new;
	int err;

	while (!(*page = cache_find(inode, index))) {
		new = alloc_page(GFP_FILE | GFP_ZERO);
		if (!new)
			return -ENOMEM;
		err = cache_add(inode, index, new, GFP_FILE);
		if (err)
			page_put(new);
		if (err == -ENOMEM)
			return err;
	}
	page_get(*page);
	return 0;
}

/* Of a file without a store. */
static int get_kept(struct inode *inode, u32 index, struct page **page)
{
	if ((u64)index << PAGE_SHIFT >= inode->size)
		return -EINVAL;
	if (unlikely(!cache_find(inode, index)) && !cache_may_grow())
		return -ENOMEM;
	return get_page(inode, index, page);
}

int cache_get_page(struct inode *inode, u32 index, struct page **page)
{
	struct readahead alone = { .advice = READ_RANDOM };
	bool major;
	int err;

	if (!inode->cache.ops)
		return get_kept(inode, index, page);
	err = cache_read_page(inode, index, 1, &alone, page, &major);
	if (!err)
		cache_note_io(*page);
	return err;
}

int cache_fault_page(struct inode *inode, u32 index, struct readahead *ahead, struct page **page,
		     bool *major)
{
	if (!inode->cache.ops)
		return get_kept(inode, index, page);
	if (!cache_find(inode, index))
		guard_call_fault(current->mm);
	return cache_read_page(inode, index, 1, ahead, page, major);
}

/* Writing. */

/* Fills a hole from the user: 0, -EFAULT, -ENOSPC, or -EEXIST: it is none any more. */
static int write_hole(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	struct page *page;
	int err;

	if (!cache_may_grow())
		return -ENOSPC;
	page = alloc_page(n == PAGE_SIZE ? GFP_FILE : GFP_FILE | GFP_ZERO);
	if (!page)
		return -ENOSPC;
	err = page_from_user(page, off, user, n);
	if (!err)
		err = cache_add(inode, index, page, GFP_FILE);
	if (err)
		page_put(page);
	return err == -ENOMEM ? -ENOSPC : err;
}

static int write_kept(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	struct page *page;
	int err;

	do {
		page = cache_find(inode, index);
		if (!page) {
			err = write_hole(inode, index, off, user, n);
		} else {
			page_get(page);
			err = page_from_user(page, off, user, n);
			page_put(page);
		}
	} while (unlikely(err == -EEXIST));
	return err;
}

/*
 * A page that is not in memory and of which nothing on the device matters, since all of it is written or the file
 * has ended before: filled, and put into the cache locked, until its place is found. -EEXIST: there
 * is one now.
 */
static int write_new(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	struct page *page = alloc_page((n == PAGE_SIZE ? 0 : GFP_ZERO) |
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
	err = cache_make_blocks(inode, index, off, n);
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
	err = page->inode == inode ? cache_make_blocks(inode, index, off, n) : -EEXIST;
	if (!err) /* also what is new on the device and not reached by the copy: it holds zeros here */
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

static int write_stored(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
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

static int write_page(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	return inode->cache.ops ? write_stored(inode, index, off, user, n)
				: write_kept(inode, index, off, user, n);
}

/* The part of a write that fails on the user's second page: what is on the first one. */
static u32 before_border(const char *user, u32 n)
{
	return MIN(n, PAGE_SIZE - ((u32)user & (PAGE_SIZE - 1)));
}

/* Where writing ends at the latest, and what is said there. */
static u32 end_of(const struct inode *inode, int *err)
{
	*err = is_device(inode) ? -ENOSPC : -EFBIG;
	return is_device(inode) ? MIN(inode->size, (u64)CACHE_MAX_SIZE) : CACHE_MAX_SIZE;
}

static int write_pages(struct inode *inode, const char *from, u32 n, u32 *at)
{
	int err = 0;

	while (n && !err) {
		u32 off = *at & (PAGE_SIZE - 1);
		u32 len = MIN(PAGE_SIZE - off, n);

		err = write_page(inode, *at >> PAGE_SHIFT, off, from, len);
		if (err == -EFAULT && before_border(from, len) < len) {
			n = len = before_border(from, len);
			err = write_page(inode, *at >> PAGE_SHIFT, off, from, len);
		}
		if (err)
			break;
		*at += len;
		from += len;
		n -= len;
		if (*at > inode->size)
			inode->size = *at;
		if (inode->cache.ops)
			writeback_throttle(&inode->cache);
	}
	return err;
}

/* A write that failed may have left bytes behind the end, and blocks. */
static void undo_beyond_end(struct inode *inode)
{
	cache_clear_tail(inode);
	if (inode->cache.ops && inode->ops->truncate)
		inode->ops->truncate(inode, inode->size);
}

static long write_locked(struct file *f, const void *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	u32 at, end;
	int err;

	if (f->flags & O_APPEND)
		*pos = inode->size;
	end = end_of(inode, &err);
	if (*pos >= end)
		return n ? err : 0;
	at = *pos;
	err = write_pages(inode, user, MIN(n, end - at), &at);
	if (err && !is_device(inode))
		undo_beyond_end(inode);
	n = at - (u32)*pos;
	*pos = at;
	inode_touch(inode);
	return n ? (long)n : err;
}

long cache_file_write(struct file *f, const void *user, size_t n, u64 *pos)
{
	long done;

	if (!f->inode->cache.ops)
		return write_locked(f, user, n, pos);
	mutex_lock(&f->inode->lock);
	done = write_locked(f, user, n, pos);
	mutex_unlock(&f->inode->lock);
	return done;
}

int cache_append_kernel(struct inode *inode, const void *from, size_t n)
{
	u32 at = inode->size, done = 0, len;

	if (n > CACHE_MAX_SIZE - at)
		return -EFBIG;
	for (; done < n; at += len, done += len) {
		u32 off = at & (PAGE_SIZE - 1);
		struct page *page;

		if (get_page(inode, at >> PAGE_SHIFT, &page))
			return -ENOSPC;
		len = MIN(PAGE_SIZE - off, n - done);
		page_write(page, off, (const char *)from + done, len);
		page_put(page);
		inode->size = at + len;
	}
	cache_boot_done();
	return 0;
}
