/*
 * O_DIRECT: transfers between the device and the caller's own pages, past the cache.
 *
 * Address in memory, position in the file and length must be whole sectors. The caller's pages are
 * faulted in and held for one request. Reclaim may unmap a page meanwhile, but its frame stays
 * allocated, and data that the device has put there count as written by the caller.
 *
 * The cache may hold the same pages of the file, for other readers, writers and mappings. So before a
 * read, dirty pages in the range are written back. Before a write they are written back, too, and then
 * all pages in the range are dropped, and after the write again those that were loaded meanwhile. A page
 * with other users (metadata of a mounted file system) stays: then the write goes through the cache.
 *
 *	reading a hole                      zeros, without the device
 *	reading the last sector             like any other; the byte count ends with the file
 *	writing into a hole, and into the   through the cache, written back and dropped at once
 *	page in which the file ends
 *	writing whole pages after that      blocks are allocated, and written
 *
 * No page can be loaded into the cache from after the end while it is being written, because
 * readers stop at the file's size, which grows only afterwards. inode->lock keeps out other
 * writers, truncation, and direct readers. A task that writes through a mapping at the same time
 * gets either the old or the new data, as on Linux.
 */
#include "arch/uaccess.h"
#include "drivers/block.h"
#include "fs/gate.h"
#include "internal.h"
#include "mm/fault.h"
#include "mm/mm.h"
#include "mm/frames.h"
#include "mm/vmstat.h"
#include "sched/current.h"

#define MAX_BYTES (BIO_MAX_PIECES * PAGE_SIZE)

struct transfer {
	struct inode *inode;
	bool write;
	char *user; /* address of the next byte */
	u32 at;     /* position of the next byte in the file */
	u32 left;
	u32 most;   /* maximum of one request */
	u32 old_end; /* writing: from here on, blocks are allocated */
	struct bio_piece piece[BIO_MAX_PIECES];
	u32 nr;
};

static bool is_aligned(const void *user, u32 n, u32 at)
{
	return !(((u32)user | n | at) & (SECTOR_SIZE - 1));
}

/* The caller's pages. */

static struct page *get_page(const struct transfer *t, u32 addr)
{
	return get_user_page(current->mm, addr, !t->write);
}

/* Faults in the pages of the next bytes. Holds none of them, since a fault may have to evict some
 * of them. Returns the number of bytes, or -errno if not even the first page can be faulted in. */
static long fault_in(const struct transfer *t, u32 bytes)
{
	u32 from = (u32)t->user, flags = t->write ? 0 : FAULT_WRITE;

	for (u32 addr = from; addr - from < bytes; addr = (addr & PAGE_MASK) + PAGE_SIZE) {
		struct page *page = get_page(t, addr);
		int err = page ? 0 : handle_mm_fault(current->mm, addr, flags);

		if (page)
			page_put(page);
		if (err)
			return addr > from ? (long)(addr - from) : err;
	}
	return bytes;
}

/* Holds the resident pages of the next bytes, up to the first missing one. Returns the number of bytes. */
static u32 hold_there(struct transfer *t, u32 bytes)
{
	u32 done = 0, len;

	for (t->nr = 0; done < bytes && t->nr < BIO_MAX_PIECES; t->nr++, done += len) {
		struct bio_piece *piece = &t->piece[t->nr];
		u32 addr = (u32)t->user + done;

		piece->page = get_page(t, addr);
		if (!piece->page)
			break;
		piece->offset = addr & (PAGE_SIZE - 1);
		len = MIN(PAGE_SIZE - piece->offset, bytes - done);
		piece->bytes = len;
	}
	return done;
}

/* Returns the number of bytes held, or -errno. If the last page evicts the first one, fewer are tried. */
static long hold_pages(struct transfer *t, u32 bytes)
{
	u32 held = 0;
	long ready;

	while ((ready = fault_in(t, bytes)) > 0 && !(held = hold_there(t, ready))) {
		t->most = MAX(t->most / 2, PAGE_SIZE);
		bytes = MIN(bytes, PAGE_SIZE - ((u32)t->user & (PAGE_SIZE - 1)));
	}
	return ready < 0 ? ready : (long)held;
}

/* Marks a page dirty to which the device has written. A page of a shared file may have been cleaned
 * meanwhile. */
static void note_written(struct page *page)
{
	if (page_test(page, PG_anon))
		page_set(page, PG_dirty);
	else if (page_test(page, PG_filecache) && page->inode)
		cache_make_writable(page->inode, page);
}

static void release_pages(struct transfer *t)
{
	for (u32 i = 0; i < t->nr; i++) {
		if (!t->write)
			note_written(t->piece[i].page);
		page_put(t->piece[i].page);
	}
}

/* Transferring data. */

static void count(const struct transfer *t, u32 sectors)
{
	if (t->write)
		stat_add(pgpgout, sectors / 2);
	else
		stat_add(pgpgin, sectors / 2);
}

/* Does one request, from `sector` on. Returns the number of bytes, or -errno. */
static long move(struct transfer *t, u32 sector, u32 bytes)
{
	long held = hold_pages(t, bytes);
	int err;

	if (held < 0)
		return held;
	err = block_move(t->inode->cache.bdev, sector, t->write,
			 is_device(t->inode) ? BIO_META : BIO_DATA, t->piece, t->nr);
	count(t, held >> SECTOR_SHIFT);
	release_pages(t);
	return err ?: held;
}

/* Number of bytes of the next step; 0: they must go through the cache. *create: allocate blocks. */
static u32 next_bytes(const struct transfer *t, bool *create)
{
	*create = t->write && t->at >= t->old_end;
	if (!t->write)
		return MIN(t->left, t->most);
	if (*create)
		return t->at % PAGE_SIZE ? 0 : ALIGN_DOWN(MIN(t->left, t->most), PAGE_SIZE);
	if (t->at >= t->inode->size)
		return 0;
	return MIN(t->left, MIN(t->most, ALIGN_DOWN(cache_end_of(t->inode) - t->at, SECTOR_SIZE)));
}

/* Transfers one contiguous piece. Returns bytes, 0 if it must go through the cache, or -errno. */
static long step(struct transfer *t)
{
	struct inode *inode = t->inode;
	u32 bits = inode->block_bits, off = t->at & ((1u << bits) - 1);
	struct extent e;
	bool create;
	u32 bytes = next_bytes(t, &create);
	int err;

	if (!bytes)
		return 0;
	err = inode->cache.ops->map(inode, t->at >> bits, (off + bytes + (1u << bits) - 1) >> bits,
				    create, &e);
	if (err)
		return err;
	bytes = MIN(bytes, (e.blocks << bits) - off);
	if (e.sector || is_device(inode))
		return move(t, e.sector + (off >> SECTOR_SHIFT), bytes);
	if (t->write)
		return 0;
	return clear_user(t->user, bytes) ? -EFAULT : (long)bytes;
}

/* With a log: blocks and size change together. */
static long step_logged(struct transfer *t)
{
	struct inode *inode = t->inode;
	long done;

	do {
		log_begin(inode->sb);
		done = step(t);
		if (done > 0)
			inode->size = MAX(inode->size, (u64)t->at + done);
		inode->ops->truncate(inode, inode->size);
	} while (log_end(inode->sb, MIN(done, 0l)));
	return done;
}

static long one_step(struct transfer *t)
{
	return unlikely(t->write && t->inode->sb->log) ? step_logged(t) : step(t);
}

/* Returns 0, or the error that stopped the transfer; earlier steps remain done. */
static int go(struct transfer *t)
{
	while (t->left) {
		long done = fatal_signal_pending(current) ? -EINTR : one_step(t);

		if (done <= 0)
			return done;
		t->user += done;
		t->at += done;
		t->left -= done;
	}
	return 0;
}

/* Reading. */

/* n is in whole sectors, even if the file ends in the middle of one. */
static long read_range(struct inode *inode, char *user, u32 n, u32 at)
{
	struct transfer t = {
		.inode = inode, .user = user, .at = at, .left = n, .most = MAX_BYTES
	};
	int err = cache_sync_range(inode, at >> PAGE_SHIFT, (at + n - 1) >> PAGE_SHIFT);

	if (!err)
		err = go(&t);
	writeback_disk_runs();
	return n - t.left ? (long)(n - t.left) : err;
}

long cache_direct_read(struct file *f, void *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	long done = 0;
	u32 end;

	if (!access_ok(user, n))
		return -EFAULT;
	mutex_lock(&inode->lock);
	end = cache_end_of(inode);
	if (n && *pos < end) {
		u32 left = end - (u32)*pos;

		done = is_aligned(user, n, *pos)
			       ? read_range(inode, user, MIN(n, ALIGN_UP(left, SECTOR_SIZE)), *pos)
			       : -EINVAL;
		done = MIN(done, (long)left);
	}
	mutex_unlock(&inode->lock);
	if (done > 0)
		*pos += done;
	return done;
}

/* Writing. */

/* Removes a clean page from the cache, but a device's page only if it has no other users. Returns true
 * if it is gone. */
static bool drop_page(struct inode *inode, struct page *page)
{
	bool gone;

	page_get(page);
	page_lock(page);
	page_wait_writeback(page);
	gone = page->inode != inode;
	if (!gone && !page_test(page, PG_dirty)) {
		cache_unmap(page);
		gone = !is_device(inode) || page->count == 2u + page_test(page, PG_isolated);
		if (gone)
			cache_remove(page);
	}
	page_unlock(page);
	page_put(page);
	return gone;
}

static bool drop_range(struct inode *inode, u32 at, u32 end)
{
	u32 index = at >> PAGE_SHIFT, last = (end - 1) >> PAGE_SHIFT;
	struct page *page;
	bool all = true;

	for (; (page = radix_next(&inode->cache.pages, &index)) && index <= last; index++)
		if (!is_shadow(page) && !drop_page(inode, page))
			all = false;
	return all;
}

int direct_write(struct inode *inode, const char *user, u32 n, u32 *at)
{
	struct transfer t = { .inode = inode, .write = true, .user = (char *)user, .at = *at };
	u32 end = *at + n;
	int err;

	if (!is_aligned(user, n, *at))
		return -EINVAL;
	if (!access_ok(user, n))
		return -EFAULT;
	t.left = n;
	t.most = MAX_BYTES;
	t.old_end = ALIGN_UP(cache_end_of(inode), PAGE_SIZE);
	if (*at > inode->size)
		cache_clear_tail(inode);
	err = cache_sync_range(inode, *at >> PAGE_SHIFT, (end - 1) >> PAGE_SHIFT);
	if (err || !drop_range(inode, *at, end))
		return err;
	err = go(&t);
	if (t.at > inode->size)
		inode->size = t.at;
	drop_range(inode, *at, end);
	*at = t.at;
	return err;
}

int direct_settle(struct inode *inode, u32 from, u32 end)
{
	int err = 0;

	if (from < end) {
		err = cache_sync_range(inode, from >> PAGE_SHIFT, (end - 1) >> PAGE_SHIFT);
		drop_range(inode, from, end);
	}
	return err;
}
