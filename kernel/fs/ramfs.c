/*
 * Files that live in memory.
 *
 * A regular file is its page cache and nothing else: inode->pages is an array of pages by index,
 * grown by doubling. A NULL in it is a hole and reads as zeros; a write puts a page there. There
 * is no store behind the cache, so these pages are never reclaimed (as in Linux's ramfs): they go
 * with truncation or with the inode. Programs run from here, so their text and clean data do not
 * compete with anonymous memory, which is what the policies are about.
 *
 * The frames may lie in HIGHMEM. Copying to or from user memory may sleep, for the user's page may
 * have to be read from swap, and a kmap slot must not be held across a sleep; so pages in low
 * memory are copied in place, the common case, and others through a small buffer on the stack.
 *
 * While a copy sleeps the file may change under it. A page in use is pinned by a reference, and
 * array and size are looked at again after each page. A new page is filled before it is published
 * in the array, so that no reader sees what its frame held before; if another task published one
 * meanwhile, the write of that page starts again.
 *
 * Files may fill half of the memory that the boot archive leaves (as tmpfs by default), else
 * nothing would be left for the processes, and memory is asked for without killing anybody: filling
 * /tmp ends in ENOSPC. Files end at 64 MiB.
 *
 * Left out: a write by two tasks at once is atomic page by page only; a page that was truncated
 * away while it is mapped stays mapped (Linux sends SIGBUS).
 */
#include "internal.h"

#include "arch/uaccess.h"
#include "lib/string.h"
#include "mm/page.h"
#include "mm/slab.h"
#include "mm/zone.h"

#define MAX_FILE_SIZE (64u << 20)
#define MIN_SLOTS 8u
#define BOUNCE 512u
#define GFP_FILE (GFP_USER | GFP_NORETRY)

STATIC_ASSERT(MAX_FILE_SIZE / PAGE_SIZE * sizeof(struct page *) <= 128 << 10); /* kmalloc's limit */

static u32 nr_file_pages; /* in all files */
static u32 nr_boot_pages; /* that the boot archive has brought */

static const struct file_operations ramfs_fops;

static bool may_grow(void)
{
	return nr_file_pages < (nr_managed_pages() + nr_boot_pages) / 2;
}

/* The page cache of one file. */

static inline struct page *cached_page(const struct inode *inode, u32 index)
{
	return index < inode->nr_pages ? inode->pages[index] : NULL;
}

/* Makes the array long enough for index. 0 or -ENOMEM. */
static int grow_slots(struct inode *inode, u32 index)
{
	u32 n = MAX(inode->nr_pages, MIN_SLOTS);
	struct page **pages;

	if (index < inode->nr_pages)
		return 0;
	while (n <= index)
		n *= 2;
	pages = kzalloc(n * sizeof(*pages), GFP_KERNEL | GFP_NORETRY);
	if (!pages)
		return -ENOMEM;
	if (inode->nr_pages >= n) { /* another task grew it meanwhile */
		kfree(pages);
		return 0;
	}
	if (inode->pages)
		memcpy(pages, inode->pages, inode->nr_pages * sizeof(*pages));
	kfree(inode->pages);
	inode->pages = pages;
	inode->nr_pages = n;
	return 0;
}

/* The caller's reference goes to the array. -EAGAIN: the slot is taken, or has gone. */
static int publish_page(struct inode *inode, u32 index, struct page *page)
{
	if (index >= inode->nr_pages || inode->pages[index])
		return -EAGAIN;
	page->inode = inode;
	page->file_index = index;
	page_set(page, PG_uptodate);
	inode->pages[index] = page;
	inode->nr_cached++;
	nr_file_pages++;
	return 0;
}

/* The page of a slot with a reference; a hole is filled with zeros. 0 or -ENOMEM. */
static int get_page(struct inode *inode, u32 index, struct page **page)
{
	struct page *new;

	while (!(*page = cached_page(inode, index))) {
		if (grow_slots(inode, index))
			return -ENOMEM;
		new = alloc_page(GFP_FILE | GFP_ZERO);
		if (!new)
			return -ENOMEM;
		if (publish_page(inode, index, new))
			page_put(new);
	}
	page_get(*page);
	return 0;
}

static void drop_pages(struct inode *inode, u32 from)
{
	for (u32 i = from; i < inode->nr_pages; i++) {
		struct page *page = inode->pages[i];

		if (!page)
			continue;
		inode->pages[i] = NULL;
		inode->nr_cached--;
		nr_file_pages--;
		page->inode = NULL;
		page_put(page);
	}
	if (!from) {
		kfree(inode->pages);
		inode->pages = NULL;
		inode->nr_pages = 0;
	}
}

/* Copies between a page and the user. */

static bool page_is_low(const struct page *page)
{
	return likely(page_zone_index(page) != ZONE_HIGHMEM);
}

static __attribute__((noinline)) int high_to_user(struct page *page, u32 off, char *user, u32 n)
{
	char bounce[BOUNCE];

	for (u32 done = 0, len; done < n; done += len) {
		char *va = kmap(page);

		len = MIN(n - done, BOUNCE);
		memcpy(bounce, va + off + done, len);
		kunmap(va);
		if (copy_to_user(user + done, bounce, len))
			return -EFAULT;
	}
	return 0;
}

static __attribute__((noinline)) int high_from_user(struct page *page, u32 off, const char *user,
						    u32 n)
{
	char bounce[BOUNCE];

	for (u32 done = 0, len; done < n; done += len) {
		char *va;

		len = MIN(n - done, BOUNCE);
		if (copy_from_user(bounce, user + done, len))
			return -EFAULT;
		va = kmap(page);
		memcpy(va + off + done, bounce, len);
		kunmap(va);
	}
	return 0;
}

static int page_from_user(struct page *page, u32 off, const char *user, u32 n)
{
	if (page_is_low(page))
		return copy_from_user((char *)page_address(page) + off, user, n);
	return high_from_user(page, off, user, n);
}

/* Reading. */

static int read_page(struct inode *inode, u32 index, u32 off, char *user, u32 n)
{
	struct page *page = cached_page(inode, index);
	int err;

	if (unlikely(!page))
		return clear_user(user, n);
	page_get(page);
	if (page_is_low(page))
		err = copy_to_user(user, (char *)page_address(page) + off, n);
	else
		err = high_to_user(page, off, user, n);
	page_put(page);
	return err;
}

static long ramfs_read(struct file *f, void *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	u32 at = *pos, done = 0;

	if (*pos >= inode->size)
		return 0;
	n = MIN(n, (u32)inode->size - at);
	while (done < n) {
		u32 off = at & (PAGE_SIZE - 1);
		u32 len = MIN(PAGE_SIZE - off, n - done);

		if (read_page(inode, at >> PAGE_SHIFT, off, (char *)user + done, len))
			break;
		at += len;
		done += len;
	}
	*pos = at;
	return done || !n ? (long)done : -EFAULT;
}

long vfs_read_kernel(struct inode *inode, u64 pos, void *to, size_t n)
{
	u32 at = pos, done = 0, len;

	if (!inode_is_reg(inode) || inode->fops != &ramfs_fops)
		return -EINVAL;
	if (pos >= inode->size)
		return 0;
	n = MIN(n, (u32)inode->size - at);
	for (; done < n; at += len, done += len) {
		u32 off = at & (PAGE_SIZE - 1);
		struct page *page = cached_page(inode, at >> PAGE_SHIFT);

		len = MIN(PAGE_SIZE - off, n - done);
		if (page) {
			char *va = kmap(page);

			memcpy((char *)to + done, va + off, len);
			kunmap(va);
		} else {
			memset((char *)to + done, 0, len);
		}
	}
	return done;
}

int vfs_get_page(struct inode *inode, u32 index, struct page **page)
{
	if (inode->fops != &ramfs_fops || (u64)index << PAGE_SHIFT >= inode->size)
		return -EINVAL;
	if (unlikely(!cached_page(inode, index)) && !may_grow())
		return -ENOMEM;
	return get_page(inode, index, page);
}

/* Writing. */

/* Fills a hole from the user: 0, -EFAULT, -ENOSPC, or -EAGAIN: it is none any more. */
static int write_hole(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	struct page *page;
	int err;

	if (!may_grow() || grow_slots(inode, index))
		return -ENOSPC;
	page = alloc_page(n == PAGE_SIZE ? GFP_FILE : GFP_FILE | GFP_ZERO);
	if (!page)
		return -ENOSPC;
	err = page_from_user(page, off, user, n);
	if (!err)
		err = publish_page(inode, index, page);
	if (err)
		page_put(page);
	return err;
}

static int write_page(struct inode *inode, u32 index, u32 off, const char *user, u32 n)
{
	struct page *page;
	int err;

	do {
		page = cached_page(inode, index);
		if (!page) {
			err = write_hole(inode, index, off, user, n);
		} else {
			page_get(page);
			err = page_from_user(page, off, user, n);
			page_put(page);
		}
	} while (unlikely(err == -EAGAIN));
	return err;
}

/* What lies beyond the end of a file reads as zeros when the file grows again. */
static void clear_tail(struct inode *inode)
{
	u32 off = (u32)inode->size & (PAGE_SIZE - 1);
	struct page *page = cached_page(inode, (u32)inode->size >> PAGE_SHIFT);
	char *va;

	if (!off || !page)
		return;
	va = kmap(page);
	memset(va + off, 0, PAGE_SIZE - off);
	kunmap(va);
}

/* The part of a write that fails on the user's second page: what is on the first one. */
static u32 before_border(const char *user, u32 n)
{
	return MIN(n, PAGE_SIZE - ((u32)user & (PAGE_SIZE - 1)));
}

static long ramfs_write(struct file *f, const void *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	const char *from = user;
	u32 at, done = 0;
	int err = 0;

	if (f->flags & O_APPEND)
		*pos = inode->size;
	if (*pos >= MAX_FILE_SIZE)
		return n ? -EFBIG : 0;
	at = *pos;
	n = MIN(n, MAX_FILE_SIZE - at);
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
		clear_tail(inode);
	*pos = at;
	inode_touch(inode);
	return done ? (long)done : err;
}

int ramfs_append(struct inode *inode, const void *from, size_t n)
{
	u32 at = inode->size, done = 0, len;

	if (n > MAX_FILE_SIZE - at)
		return -EFBIG;
	for (; done < n; at += len, done += len) {
		u32 off = at & (PAGE_SIZE - 1);
		struct page *page;
		char *va;

		if (get_page(inode, at >> PAGE_SHIFT, &page))
			return -ENOSPC;
		len = MIN(PAGE_SIZE - off, n - done);
		va = kmap(page);
		memcpy(va + off, (const char *)from + done, len);
		kunmap(va);
		page_put(page);
		inode->size = at + len;
	}
	nr_boot_pages = nr_file_pages;
	return 0;
}

int ramfs_truncate(struct inode *inode, u64 size)
{
	if (size > MAX_FILE_SIZE)
		return -EFBIG;
	if (size < inode->size) {
		inode->size = size;
		drop_pages(inode, PAGE_ALIGN(size) >> PAGE_SHIFT);
		clear_tail(inode);
	}
	return 0;
}

void ramfs_room(struct kstatfs *st)
{
	st->blocks = (nr_managed_pages() + nr_boot_pages) / 2;
	st->blocks_free = st->blocks - MIN(nr_file_pages, (u32)st->blocks);
	st->blocks_available = st->blocks_free;
}

/* Inodes. */

static void ramfs_evict(struct inode *inode)
{
	drop_pages(inode, 0);
}

static void symlink_evict(struct inode *inode)
{
	kfree(inode->private);
}

static const struct file_operations ramfs_fops = {
	.read = ramfs_read,
	.write = ramfs_write,
};

struct inode *ramfs_inode(struct super_block *sb, u32 mode, u32 rdev)
{
	struct inode *inode = inode_alloc(sb, mode);

	if (!inode)
		return NULL;
	inode->ops = &ramfs_ops;
	inode->rdev = rdev;
	if (inode_is_reg(inode)) {
		inode->fops = &ramfs_fops;
		inode->evict = ramfs_evict;
	} else {
		inode_set_special(inode);
	}
	return inode;
}

struct inode *ramfs_symlink(struct super_block *sb, const char *target, size_t len)
{
	char *text = kmalloc(len + 1, GFP_KERNEL | GFP_NORETRY);
	struct inode *inode = text ? inode_alloc(sb, S_IFLNK | 0777) : NULL;

	if (!inode) {
		kfree(text);
		return NULL;
	}
	memcpy(text, target, len);
	text[len] = '\0';
	inode->private = text;
	inode->size = len;
	inode->evict = symlink_evict;
	return inode;
}
