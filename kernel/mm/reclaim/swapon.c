/*
 * Switching on, and off, a swap area that a program names.
 *
 * The area must have been prepared by mkswap, because its contents are lost. mkswap writes into the
 * first page (Linux's version 1, of 1999):
 *
 *	 1024  version: 1        1032  number of bad pages
 *	 1028  the last page     1536  list of bad pages
 *	 4086  "SWAPSPACE2"
 */
#include "errno.h"
#include "lib/string.h"
#include "mm/zone.h"
#include "swap_internal.h"

#define MAX_BAD_PAGES 637u
#define SIGNATURE "SWAPSPACE2"

struct swap_header {
	u8 boot_sectors[1024];
	u32 version, last_page, nr_bad;
	u8 uuid[16], label[16];
	u32 padding[117];
	u32 bad[MAX_BAD_PAGES];
	u8 rest[2];
	char signature[10];
};

STATIC_ASSERT(offsetof(struct swap_header, bad) == 1536);
STATIC_ASSERT(sizeof(struct swap_header) == PAGE_SIZE);

static int check_header(const struct swap_header *h, u32 nr_pages)
{
	if (memcmp(h->signature, SIGNATURE, sizeof(h->signature)) || h->version != 1)
		return -EINVAL;
	if (!h->last_page || h->last_page >= nr_pages || h->last_page >= MAX_AREA_SLOTS)
		return -EINVAL;
	if (h->nr_bad > MAX_BAD_PAGES)
		return -EINVAL;
	for (u32 i = 0; i < h->nr_bad; i++)
		if (!h->bad[i] || h->bad[i] > h->last_page)
			return -EINVAL;
	return 0;
}

/* Returns a frame with the header, already checked, or NULL with the reason in *err. */
static struct page *read_header(struct block_device *bdev, u32 sector, u32 nr_pages, int *err)
{
	struct page *page = alloc_page(GFP_KERNEL | GFP_NORETRY);

	*err = -ENOMEM;
	if (!page)
		return NULL;
	*err = block_rw(bdev, sector, page, 0, PAGE_SIZE, false);
	if (!*err)
		*err = check_header(page_address(page), nr_pages);
	if (!*err)
		return page;
	free_pages(page, 0);
	return NULL;
}

int swap_header_read(struct block_device *bdev, u32 sector, u32 nr_pages, u32 *last_page)
{
	const struct swap_header *h;
	int err;
	struct page *page = read_header(bdev, sector, nr_pages, &err);

	if (!page)
		return err;
	h = page_address(page);
	*last_page = h->last_page;
	err = h->nr_bad ? -EINVAL : 0;
	free_pages(page, 0);
	return err;
}

static int open_area(struct block_device *bdev, const struct swap_header *h, u32 flags)
{
	struct swap_area *a;
	int err = swap_area_make(bdev, h->last_page + 1, &a);

	if (err)
		return err;
	for (u32 i = 0; i < h->nr_bad; i++)
		swap_area_forbid(a, h->bad[i]);
	swap_area_open_as(a, flags);
	return 0;
}

int swap_area_on(struct block_device *bdev, u32 flags)
{
	struct page *page;
	int err = bdev_claim(bdev, "swap");

	if (err)
		return err;
	page = read_header(bdev, 0, bdev->nr_sectors / SECTORS_PER_SLOT, &err);
	if (page) {
		err = open_area(bdev, page_address(page), flags);
		free_pages(page, 0);
	}
	if (err)
		bdev_release(bdev);
	return err;
}

void swap_area_end(struct swap_area *a)
{
	struct block_device *bdev = a->bdev;
	struct swap_file *file = a->file;
	void *tables = a->t.cache;

	swap_area_drop(a);
	swap_give_tables(tables);
	if (file)
		swap_file_end(file);
	else
		bdev_release(bdev);
}
