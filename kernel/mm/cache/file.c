/*
 * Reading and writing a file by way of its page cache: page by page, as far as it goes. A page of a
 * file without a store that is not there reads as zeros, and comes with the first write.
 */
#include "arch/uaccess.h"
#include "internal.h"
#include "lib/string.h"

#define GFP_FILE (GFP_USER | GFP_NORETRY)

/* Reading. */

static int read_page(struct inode *inode, u32 index, u32 off, char *user, u32 n)
{
	struct page *page = cache_find(inode, index);
	int err;

	if (unlikely(!page))
		return clear_user(user, n);
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
	n = MIN(n, (u32)inode->size - at);
	while (done < n) {
		u32 off = at & (PAGE_SIZE - 1);
		u32 len = MIN(PAGE_SIZE - off, n - done);

		err = read_page(inode, at >> PAGE_SHIFT, off, (char *)user + done, len);
		if (err)
			break;
		at += len;
		done += len;
	}
	*pos = at;
	return done ? (long)done : err;
}

long cache_read_kernel(struct inode *inode, u64 pos, void *to, size_t n)
{
	u32 at = pos, done = 0, len;

	if (pos >= inode->size)
		return 0;
	n = MIN(n, (u32)inode->size - at);
	for (; done < n; at += len, done += len) {
		u32 off = at & (PAGE_SIZE - 1);
		struct page *page = cache_find(inode, at >> PAGE_SHIFT);

		len = MIN(PAGE_SIZE - off, n - done);
		if (page)
			page_read(page, off, (char *)to + done, len);
		else
			memset((char *)to + done, 0, len);
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

int cache_get_page(struct inode *inode, u32 index, struct page **page)
{
	if ((u64)index << PAGE_SHIFT >= inode->size)
		return -EINVAL;
	if (unlikely(!cache_find(inode, index)) && !cache_may_grow())
		return -ENOMEM;
	return get_page(inode, index, page);
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

static int write_page(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
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

/* The part of a write that fails on the user's second page: what is on the first one. */
static u32 before_border(const char *user, u32 n)
{
	return MIN(n, PAGE_SIZE - ((u32)user & (PAGE_SIZE - 1)));
}

long cache_file_write(struct file *f, const void *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	const char *from = user;
	u32 at, done = 0;
	int err = 0;

	if (f->flags & O_APPEND)
		*pos = inode->size;
	if (*pos >= CACHE_MAX_SIZE)
		return n ? -EFBIG : 0;
	at = *pos;
	n = MIN(n, CACHE_MAX_SIZE - at);
	while (done < n) {
		u32 off = at & (PAGE_SIZE - 1);
		u32 len = MIN(PAGE_SIZE - off, n - done);

		err = write_page(inode, at >> PAGE_SHIFT, off, from + done, len);
		if (err == -EFAULT && before_border(from + done, len) < len) {
			len = before_border(from + done, len);
			n = done + len;
			err = write_page(inode, at >> PAGE_SHIFT, off, from + done, len);
		}
		if (err)
			break;
		at += len;
		done += len;
		if (at > inode->size)
			inode->size = at;
	}
	if (err)
		cache_clear_tail(inode);
	*pos = at;
	inode_touch(inode);
	return done ? (long)done : err;
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
