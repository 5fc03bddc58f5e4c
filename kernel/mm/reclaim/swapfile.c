/*
 * A swap area in a file, on a file system that reports where its blocks lie (cache_ops.map).
 *
 * The file system is asked once, when the area is switched on. From then on the area is a list of
 * extents, pieces of the file that are contiguous on the device, and pages are written there
 * without asking again: when memory is short, nothing may depend on metadata that would have to be
 * read first. So the file must have no holes and must not be written or truncated while it is in
 * use (ETXTBSY). Its blocks stay allocated, since the area holds a reference to the inode.
 *
 * Places are numbered through the extents, with one unused place after each extent. So no run of
 * slots continues from one extent into another, and requests need not check for borders. A page
 * whose blocks are scattered is left out. A request is built with the sector that the place would
 * have on a disk; the real sector is set when the request is sent.
 */
#include "errno.h"
#include "fs/vfs.h"
#include "lib/assert.h"
#include "mm/cache.h"
#include "mm/vmalloc.h"
#include "swap_internal.h"

struct swap_extent {
	u32 place, nr; /* places of this extent, from `place` on */
	u32 sector;
};

struct swap_file {
	struct inode *inode;
	u32 nr; /* number of extents */
	struct swap_extent extents[];
};

u32 swap_nr_files;

/* The place after the last extent. */
static u32 end_place(const struct swap_file *f)
{
	const struct swap_extent *last = &f->extents[f->nr - 1];

	return f->nr ? last->place + last->nr : 0;
}

/* Returns the number of pages, from `page` on and at most max, that are contiguous on the device, and
 * their sector; 0 if the blocks of `page` are scattered; -EINVAL at a hole, or another -errno. */
static int map_pages(struct inode *inode, u32 page, u32 max, u32 *sector)
{
	u32 per_page = PAGE_SIZE >> inode->block_bits;
	struct extent e;
	int err = inode->cache.ops->map(inode, page * per_page, max * per_page, false, &e);

	if (err)
		return err;
	*sector = e.sector;
	return e.sector ? (int)(e.blocks / per_page) : -EINVAL;
}

/* Finds the extents and stores them in f (NULL: only counts them). Returns their number, or -errno. */
static int find_extents(struct inode *inode, u32 nr_pages, struct swap_file *f, u32 room)
{
	u32 page = 0, found = 0;

	while (page < nr_pages) {
		u32 sector = 0;
		int n = map_pages(inode, page, nr_pages - page, &sector);

		if (n < 0 || (!n && !page))
			return n ? n : -EINVAL; /* the header must be contiguous */
		if (n && f && found == room)
			return -EINVAL;
		if (n && f) {
			f->extents[found] =
				(struct swap_extent){ end_place(f) + !!found, n, sector };
			f->nr = found + 1;
		}
		found += !!n;
		page += MAX(n, 1);
	}
	return found;
}

static struct swap_file *make_file(struct inode *inode, int *err)
{
	u32 nr_pages = inode->size >> PAGE_SHIFT;
	struct swap_file *f;
	int nr = find_extents(inode, nr_pages, NULL, 0);

	*err = nr < 0 ? nr : -ENOMEM;
	f = nr > 0 ? vzalloc(sizeof(*f) + nr * sizeof(f->extents[0]), "swap file") : NULL;
	if (!f)
		return NULL;
	f->inode = inode;
	nr = find_extents(inode, nr_pages, f, nr);
	*err = nr < 0 ? nr : 0;
	if (nr >= 0)
		return f;
	vfree(f);
	return NULL;
}

static bool is_used(const struct inode *inode)
{
	return inode->state & INODE_SWAP;
}

/* Creates an area in the file, with unused places between extents; the header gives the number of pages. */
static int open_file(struct swap_file *f, u32 flags)
{
	struct swap_area *a;
	u32 last_page;
	int err = swap_header_read(f->inode->cache.bdev, f->extents[0].sector,
				   f->inode->size >> PAGE_SHIFT, &last_page);

	if (!err)
		err = swap_area_make(f->inode->cache.bdev, MIN(end_place(f), MAX_AREA_SLOTS), &a);
	if (err)
		return err;
	a->file = f;
	swap_nr_files++;
	for (u32 i = 1; i < f->nr && f->extents[i].place <= a->nr; i++)
		swap_area_forbid(a, f->extents[i].place - 1);
	swap_area_open_as(a, flags);
	return 0;
}

/* From now on no task may change the file or take its name, not even one that is about to do so. */
static int protect(struct inode *inode)
{
	struct inode *dir = inode->parent;
	int err = 0;

	if (!dir)
		return -ENOENT;
	inode_get(dir);
	mutex_lock(&dir->lock);
	if (inode->parent != dir)
		err = -ENOENT;
	else if (is_used(inode))
		err = -EBUSY;
	else
		err = super_may_change(inode->sb);
	if (!err) {
		inode->state |= INODE_SWAP;
		inode_count_writers(inode, 1);
	}
	mutex_unlock(&dir->lock);
	inode_put(dir);
	return err;
}

static void unprotect(struct inode *inode)
{
	inode->state &= ~INODE_SWAP;
	inode_count_writers(inode, -1);
	inode_put(inode);
}

int swap_file_on(struct inode *inode, u32 flags)
{
	struct swap_file *f;
	int err;

	if ((inode->mode & S_IFMT) != S_IFREG || !inode->cache.bdev || inode->size < 2 * PAGE_SIZE)
		return -EINVAL;
	err = protect(inode);
	if (err)
		return err;
	inode_get(inode);
	err = cache_sync(inode);
	f = err ? NULL : make_file(inode, &err);
	if (f)
		err = open_file(f, flags);
	if (err) {
		vfree(f);
		unprotect(inode);
	}
	return err;
}

int swap_file_off(struct inode *inode)
{
	struct swap_area *a;

	for_each_swap_area(a)
		if (a->file && a->file->inode == inode)
			return swap_area_leave(a);
	return -EINVAL;
}

void swap_file_end(struct swap_file *f)
{
	struct inode *inode = f->inode;

	vfree(f);
	swap_nr_files--;
	unprotect(inode);
}

struct inode *swap_file_inode(const struct swap_file *f)
{
	return f->inode;
}

u32 swap_file_sector(const struct swap_file *f, u32 place)
{
	u32 lo = 0, hi = f->nr;

	while (hi - lo > 1) {
		u32 middle = (lo + hi) / 2;

		if (f->extents[middle].place <= place)
			lo = middle;
		else
			hi = middle;
	}
	place -= f->extents[lo].place;
	ASSERT(place < f->extents[lo].nr);
	return f->extents[lo].sector + place * SECTORS_PER_SLOT;
}
