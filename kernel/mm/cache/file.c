/*
 * Reading and writing a file through its page cache, page by page, as far as possible. In a file
 * without a store, a missing page reads as zeros and is created by the first write.
 */
#include "internal.h"
#include "lib/string.h"
#include "mm/guard_core.h"
#include "mm/frames.h"
#include "sched/current.h"

#define GFP_FILE (GFP_USER | GFP_NORETRY)

/* Reading. */

static inline int read_kept(struct inode *inode, u32 index, u32 off, char *user, u32 n)
{
	struct page *page = radix_find(&inode->cache.pages, index);
	int err;

	if (unlikely(!page))
		return clear_user(user, n);
	page_get(page);
	err = page_to_user(page, off, user, n);
	page_put(page);
	return err;
}

/* Inlined once for each kind of file. */
static inline __attribute__((always_inline)) long read_pages(struct file *f, char *user, u32 n,
							     u64 *pos, bool stored)
{
	struct inode *inode = f->inode;
	u32 at = *pos, start = at, done; /* a task that shares the file may change *pos meanwhile */
	int err = 0;

	for (u32 len; n; at += len, user += len, n -= len) {
		u32 off = at & (PAGE_SIZE - 1);

		len = MIN(PAGE_SIZE - off, n);
		if (stored)
			err = stored_read(f, at >> PAGE_SHIFT, off, user, len, n);
		else
			err = read_kept(inode, at >> PAGE_SHIFT, off, user, len);
		if (err)
			break;
	}
	done = at - start;
	*pos = at;
	if (err == -EINVAL) /* the file has become shorter meanwhile */
		err = 0;
	return done ? (long)done : err;
}

static out_of_line long read_stored(struct file *f, char *user, u32 n, u64 *pos)
{
	return read_pages(f, user, n, pos, true);
}

static out_of_line long read_many(struct file *f, char *user, u32 n, u64 *pos)
{
	return read_pages(f, user, n, pos, false);
}

long cache_file_read(struct file *f, void *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	u32 at = *pos, end = cache_end_of(inode);
	int err;

	if (*pos >= end)
		return 0;
	n = MIN(n, end - at);
	if (inode->cache.ops)
		return read_stored(f, user, n, pos);
	if ((at & (PAGE_SIZE - 1)) + n > PAGE_SIZE)
		return read_many(f, user, n, pos);
	err = read_kept(inode, at >> PAGE_SHIFT, at & (PAGE_SIZE - 1), user, n);
	if (unlikely(err))
		return err;
	*pos = at + n;
	return n;
}

long cache_read_kernel(struct inode *inode, u64 pos, void *to, size_t n)
{
	u32 at = pos, done = 0, len;
	struct page *page;
	int err;

	if (pos >= cache_end_of(inode))
		return 0;
	n = MIN(n, cache_end_of(inode) - at);
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

/* Returns the page at index with a reference; fills a hole with zeros. Returns 0 or -ENOMEM. */
static out_of_line int get_page(struct inode *inode, u32 index, struct page **page)
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

/* cache_get_page for a file without a store. */
static inline int get_kept(struct inode *inode, u32 index, struct page **page)
{
	if (unlikely((u64)index << PAGE_SHIFT >= inode->size))
		return -EINVAL;
	*page = radix_find(&inode->cache.pages, index);
	if (likely(*page)) {
		page_get(*page);
		return 0;
	}
	return cache_may_grow() ? get_page(inode, index, page) : -ENOMEM;
}

int cache_get_page(struct inode *inode, u32 index, struct page **page)
{
	struct readahead alone = { .advice = READ_RANDOM };
	bool major;
	int err;

	if (!inode->cache.ops)
		return get_kept(inode, index, page);
	*page = cache_find(inode, index);
	if (likely(*page && page_is_ready(*page) && (u64)index << PAGE_SHIFT < inode->size)) {
		page_get(*page);
	} else {
		err = cache_read_page(inode, index, 1, &alone, page, &major);
		if (err)
			return err;
	}
	cache_note_io(*page);
	return 0;
}

static out_of_line int fault_stored(struct inode *inode, u32 index, struct readahead *ahead,
				    struct page **page, bool *major)
{
	if (!cache_find(inode, index))
		guard_call_fault(current->mm);
	return cache_read_page(inode, index, 1, ahead, page, major);
}

/* A hole that gets no page before it is written, like those of files without a store: in a tmpfs, whose
 * room may be less than the file. Unnamed shared memory is there to be written: it gets a page. */
static bool is_hole_in_memory(const struct inode *inode, u32 index)
{
	return is_shmem(inode) && inode->sb->max_pages && !radix_find(&inode->cache.pages, index);
}

int cache_fault_page(struct inode *inode, u32 index, struct readahead *ahead, struct page **page,
		     bool *major)
{
	if (inode->cache.ops && !is_hole_in_memory(inode, index))
		return fault_stored(inode, index, ahead, page, major);
	if (unlikely((u64)index << PAGE_SHIFT >= inode->size))
		return -EINVAL;
	*page = radix_find(&inode->cache.pages, index);
	if (unlikely(!*page))
		return -ENOENT;
	page_get(*page);
	return 0;
}

/* Writing. */

/* Fills a hole from user memory. Returns 0, -EFAULT, -ENOSPC, -ENOMEM, or -EEXIST if it is a page now. */
static out_of_line int write_hole(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	struct page *page;
	int err;

	if (!cache_may_grow())
		return -ENOSPC;
	page = alloc_page(n == PAGE_SIZE ? GFP_FILE : GFP_FILE | GFP_ZERO);
	if (!page)
		return -ENOMEM;
	err = page_from_user(page, off, user, n);
	if (!err)
		err = cache_add(inode, index, page, GFP_FILE);
	if (err)
		page_put(page);
	return err;
}

static inline int write_cached(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	struct page *page;
	int err;

	while (!(page = radix_find(&inode->cache.pages, index))) {
		err = write_hole(inode, index, off, user, n);
		if (err != -EEXIST)
			return err;
	}
	page_get(page);
	err = page_from_user(page, off, user, n);
	page_put(page);
	return err;
}

/* When a write fails on the user's second page: the number of bytes on the first one. */
static u32 before_border(const char *user, u32 n)
{
	return MIN(n, PAGE_SIZE - ((u32)user & (PAGE_SIZE - 1)));
}

/* Inlined once for each kind of file, so that write_page is not called through a pointer. */
static inline __attribute__((always_inline)) int write_pages(
	struct inode *inode, const char *from, u32 n, u32 *pos,
	int (*write_page)(struct inode *inode, u32 index, u32 off, const char *user, u32 n))
{
	u32 at = *pos;
	int err = 0;

	if (unlikely(at > inode->size))
		cache_clear_tail(inode);
	while (n) {
		u32 off = at & (PAGE_SIZE - 1);
		u32 len = MIN(PAGE_SIZE - off, n);

		err = write_page(inode, at >> PAGE_SHIFT, off, from, len);
		if (unlikely(err)) {
			if (err != -EFAULT || before_border(from, len) == len)
				break;
			n = len = before_border(from, len);
			err = write_page(inode, at >> PAGE_SHIFT, off, from, len);
			if (err)
				break;
		}
		at += len;
		from += len;
		n -= len;
		if (at > inode->size)
			inode->size = at;
	}
	*pos = at;
	return err;
}

/* Writes past the cache, except for the rest that direct_write leaves. */
static out_of_line int write_direct(struct inode *inode, const char *user, u32 n, u32 *at)
{
	u32 start = *at, end = start + n, from;
	int err = direct_write(inode, user, n, at), settled;

	from = *at;
	if (err || from == end)
		return err;
	err = write_pages(inode, user + (from - start), end - from, at, stored_write);
	settled = direct_settle(inode, from, *at);
	return err ?: settled;
}

static out_of_line long write_stored(struct file *f, const char *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	u32 end = is_device(inode) ? cache_end_of(inode) : CACHE_MAX_SIZE, at, start;
	int err = is_device(inode) ? -ENOSPC : -EFBIG;

	if (inode->state & INODE_SWAP)
		return -ETXTBSY;
	mutex_lock(&inode->lock);
	if (f->flags & O_APPEND)
		*pos = inode->size;
	at = start = MIN(*pos, (u64)end);
	if (n && at < end) {
		n = MIN(n, end - at);
		if (unlikely(f->flags & O_DIRECT))
			err = write_direct(inode, user, n, &at);
		else
			err = write_pages(inode, user, n, &at, stored_write);
		stored_end(inode, err);
		inode_touch(inode);
		n = at - start;
		*pos = at;
	} else {
		err = n ? err : 0;
		n = 0;
	}
	mutex_unlock(&inode->lock);
	return n ? (long)n : err;
}

long cache_file_write(struct file *f, const void *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	u32 at, start;
	int err;

	if (unlikely(inode->cache.ops))
		return write_stored(f, user, n, pos);
	if (f->flags & O_APPEND)
		*pos = inode->size;
	at = start = *pos;
	if (*pos >= CACHE_MAX_SIZE)
		return n ? -EFBIG : 0;
	err = write_pages(inode, user, MIN(n, CACHE_MAX_SIZE - at), &at, write_cached);
	if (err)
		cache_clear_tail(inode);
	n = at - start;
	*pos = at;
	inode_touch(inode);
	return n ? (long)n : err;
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
